"""readme.py SOURCE PREFIX WORK: follows the README's instructions for a kernel of your own literally, with an
installed kiln: its files, then its commands. Also builds the source for every target in docs/HOST.md."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

source, prefix, work = (pathlib.Path(given) for given in sys.argv[1:])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)

section = (source / "README.md").read_text().split("\n## A kernel of your own\n")[1].split("\n## ")[0]
commands = ""
for block in re.finditer(r"^```(\w+)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE):
    line_before = section[: block.start()].rstrip().splitlines()[-1]
    if block[1] == "sh":
        commands += block[2]
    else:  # "..., `main.cpp`:"
        (work / re.findall(r"`([\w.]+\.(?:json|cu|txt|cpp|py|c))`", line_before)[-1]).write_text(block[2])

# Only for the device that runs it here; other tests compile the other targets.
manifest = work / "targets.json"
manifest.write_text(manifest.read_text().replace(', "sm_90", "compute_80"', ""))
commands = commands.replace("PREFIX", str(prefix))
environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
done = subprocess.run(["bash", "-ec", commands], cwd=work, env=environment, stdout=subprocess.PIPE, text=True)
print(commands, done.stdout)
assert done.returncode == 0, done.returncode
lines = [line.strip() for line in done.stdout.splitlines()]
assert sum("ok  emulated:gfx1100" in line for line in lines) == 1, "doctor names a device twice"
assert lines.count("2 4 6 8") == 2 and lines.count("2.0 4.0 6.0 8.0") == 1, "not what README.md says"

section = (source / "docs" / "HOST.md").read_text().split("\n## A source for every target\n")[1]
(work / "every").mkdir()
(work / "every" / "sums.cu").write_text(re.search(r"```cuda\n(.*?)```", section, re.DOTALL)[1])
(work / "every" / "targets.json").write_text(
    '{"format": 1, "name": "every", "targets": ["host", "host:wave64", "gfx1100"], "include_directories": ["{kiln}"],\n'
    ' "modules": [{"name": "sums", "sources": ["sums.cu"]}], "abi": "abi.json", "embed": {"emit": ["catalog"]}}')
(work / "every" / "abi.json").write_text(
    '{"format": 1, "modules": {"sums": {"block_sums": ["const f32* in", "f32* out"]}}}')
subprocess.run([prefix / "bin" / "kiln", "build", "targets.json", "--out", "out"], cwd=work / "every", check=True)
sys.path.insert(0, str(prefix / "share" / "kiln" / "python"))
sys.dont_write_bytecode = True
import kiln  # noqa: E402

sums = kiln.Catalog(str(work / "every" / "out" / "include" / "kernels.kiln"))["block_sums"]
for name in ("host", "host:wave64", "emulated:gfx1100"):
    device = kiln.Device(name)
    out = device.allocate("f32", 2)
    sums.launch(device, 2, 256, [1.0] * 256 + [2.0] * 256, out)
    assert list(out.download()) == [256, 512], name
    try:
        sums.launch(device, 2, 512, out, out)
    except kiln.Error as error:
        assert "a block of 512 threads, the kernel is compiled for up to 256" in str(error), error
    else:
        raise AssertionError(f"{name} took a block over the kernel's bound")
