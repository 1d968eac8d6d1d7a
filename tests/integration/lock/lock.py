#!/usr/bin/env python3
"""lock.py KILN TOOLKIT: 'kiln lock', 'kiln build --locked', and the bill of materials, with compilers that
take milliseconds."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
import spdx  # noqa: E402

kiln, toolkit = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
folder = tempfile.TemporaryDirectory(prefix="kiln-lock-")
root = pathlib.Path(folder.name)
shutil.copytree(toolkit, root / "toolkit")
environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "KILN_CACHE_DIR": str(root / "cache"),
               "KILN_NVCC": str(root / "toolkit/nvcc"), "KILN_FATBINARY": str(root / "toolkit/fatbinary"),
               "NVCC_CCBIN": "/nonexistent", "KILN_CXX": "/nonexistent", "KILN_HIPCC": "/nonexistent",
               "KILN_HIPIFY_PERL": "/nonexistent", "KILN_OFFLOAD_BUNDLER": "/nonexistent"}


def run(words, status=0, where=root, **more):
    done = subprocess.run([kiln, *words.split()], cwd=where, env={**environment, **more},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == status, f"kiln {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr


def manifest(where=root, targets='"compute_80", "compute_90"', **more):
    keys = "".join(f' "{key}": {json.dumps(value)},\n' for key, value in more.items())
    (where / "targets.json").write_text(
        f'{{"format": 1, "name": "demo", "targets": [{targets}],\n{keys}'
        ' "modules": [{"name": "one", "sources": ["one.cu"]}, {"name": "two", "sources": ["two.cu"]}]}\n')


def differs(expected, words="build --locked kiln.lock"):
    said = run(words, status=1)
    lines = said.splitlines()
    assert lines[0] == "kiln: error: this build would differ from 'kiln.lock'", said
    notes = [line[6:] for line in lines if line.startswith("note: ")]
    assert notes == expected, said


(root / "shared.cuh").write_text("// shared\n")
for name in ("one", "two"):
    (root / f"{name}.cu").write_text('#include "shared.cuh"\n')
manifest()
run("build --out out")
run("lock out --out kiln.lock")
locked = (root / "kiln.lock").read_text()
assert str(root) not in locked
# The same once more, in another folder as well, and with a part of it.
run("build --locked kiln.lock --out again --no-cache")
run("build --locked kiln.lock --out part --target compute_90 --module one")
run("lock again --out other.lock")
assert (root / "other.lock").read_text() == locked

# Each difference is named before anything runs.
(root / "toolkit/ran").write_text("")
(root / "shared.cuh").write_text("// edited\n")
differs(["source 'shared.cuh' differs between 'kiln.lock' and 'this build'"])
(root / "shared.cuh").write_text("// shared\n")
manifest(flags=["-DX"])
differs([f"'flags' of module '{name}' is '-DX' in 'this build', and empty in 'kiln.lock'"
         for name in ("one", "two")])
manifest(targets='"compute_80"')
differs(["target 'compute_90' is in 'kiln.lock' and not in this build"])
manifest()
said = run("build --locked kiln.lock", status=1, NVCC_APPEND_FLAGS="-DY")
assert "what the environment gives nvcc is '' in 'kiln.lock', and 'NVCC_APPEND_FLAGS=-DY' in" in said, said
tool = (root / "toolkit/nvcc").read_text()
(root / "toolkit/nvcc").write_text(tool.replace("13.0.88", "13.1.2"))
differs(["nvcc: its program differs between 'kiln.lock' and 'this build'",
         "the version of nvcc is '13.0.88' in 'kiln.lock', and '13.1.2' in 'this build'"])
(root / "toolkit/nvcc").write_text(tool)
assert (root / "toolkit/ran").read_text() == "", "a step ran"

# If an image differs, the header is not made.
image = re.search(r'"images/one/compute_80.ptx": "(\w+)"', locked).group(1)
(root / "kiln.lock").write_text(locked.replace(image, "0" * 64))
shutil.rmtree(root / "out")
said = run("build --locked kiln.lock", status=1)
assert ("kiln: error: 1 image of this build differs from 'kiln.lock'\n"
        "note: 'images/one/compute_80.ptx' is ") in said, said
assert not (root / "out/include/kernels.hpp").exists()
(root / "kiln.lock").write_text("{}")
assert "kiln.lock: not a lock file of this kiln" in run("build --locked kiln.lock", status=2)
assert "there is no lock file 'no.lock'" in run("build --locked no.lock", status=2)
assert "cannot be the lock file" in run("lock again --out one.cu", status=2)

# The bill of materials is the same from any folder.
text = (root / "again/include/kernels.spdx.json").read_text()
(root / "moved").mkdir()
for name in ("one.cu", "two.cu", "shared.cuh"):
    shutil.copy(root / name, root / "moved")
manifest(root / "moved")
run("build --no-cache", where=root / "moved")
assert (root / "moved/out/include/kernels.spdx.json").read_text() == text
document = json.loads(text)
spdx.check(document)
packages = {package["SPDXID"]: package for package in document["packages"]}
image = next(package for package in packages.values() if package["name"] == "images/one/compute_80.ptx")
digest = next(entry["digest"] for entry in json.loads((root / "again/kiln.json").read_text())["images"]
              if entry["path"] == image["name"])
assert image["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
related = {(one["relationshipType"], packages[one["relatedSpdxElement"]]["name"])
           for one in document["relationships"] if one["spdxElementId"] == image["SPDXID"]}
assert ("GENERATED_FROM", "one.cu") in related and ("GENERATED_FROM", "shared.cuh") in related, related
assert ("STATIC_LINK", packages["SPDXRef-cuda-libdevice"]["name"]) in related, related
assert "SPDXRef-rocm-device-libs" not in packages
notices = (root / "again/include/kernels.notices.txt").read_text()
assert "In images for compute_80, compute_90." in notices and "libdevice.10.bc" in notices, notices
