#!/usr/bin/env python3
"""workflow.py KILN EXAMPLES FOLDER: runs the commands of examples/ci/github.yml, a folder for each machine,
on the kernels of examples/downstream, and compares the merged build with a single build of the same targets.
Of each part's targets, only the first one that this machine can build is built, or else `host`, so that the
test is cheap and needs no vendor. The commands of gitlab.yml are compared with these as text.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

kiln, examples, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
(work / "bin").mkdir()
(work / "bin" / "kiln").symlink_to(kiln)
environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}",
               "KILN_CACHE_DIR": str(work / "cache")}
text = (examples / "ci" / "github.yml").read_text()


def job(name):
    """Returns the commands of the steps of a job, in order."""
    body = re.search(rf"^  {name}:\n(.*?)(?=^  \w|\Z)", text, re.M | re.S).group(1)
    return re.findall(r"^      - run: (.*)$", body, re.M)


def run(commands, folder, values):
    for command in commands:
        for key, value in values.items():
            command = command.replace("${{ matrix.%s }}" % key, value)
        assert "${{" not in command, command
        done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: {command}\n{done.stdout}")


def checkout(name):
    folder = work / name
    shutil.copytree(examples / "downstream" / "kernels", folder)
    return folder


def buildable(folder, target):
    manifest = json.loads((folder / "targets.json").read_text())
    (folder / "one.json").write_text(json.dumps({**manifest, "targets": [target]}))
    done = subprocess.run([kiln, "doctor", "one.json"], cwd=folder, env=environment,
                          stdout=subprocess.DEVNULL)
    (folder / "one.json").unlink()
    return done.returncode == 0


parts = re.findall(r"- \{part: (\w+), targets: ([^,]+), runner: \w+\}", text)
assert [name for name, _ in parts] == ["amd", "nvidia"], parts
assert len(job("build")) == 2 and len(job("merge")) == 3, (job("build"), job("merge"))
built = []
merger = checkout("merger")
for name, listed in parts:
    folder = checkout(f"runner_{name}")
    usable = [target for target in listed.split() if buildable(folder, target)]
    target = usable[0] if usable else ("host" if "host" not in built else "host:wave64")
    built.append(target)
    run(job("build"), folder, {"part": name, "targets": target})
    # Artifacts omit hidden files.
    shutil.copytree(folder / name, merger / name, ignore=shutil.ignore_patterns(".*"))
run(job("merge"), merger, {})
assert (merger / "all" / "report.html").stat().st_size > 10000

whole = checkout("whole")
chosen = " ".join(f"--target {target}" for target in built)
run([f"kiln build targets.json {chosen} --out all"], whole, {})
for path in sorted((whole / "all").rglob("*")):
    name = path.relative_to(whole / "all")
    if path.is_file() and not str(name).startswith(".kiln") and str(name) != "compile_commands.json":
        assert (merger / "all" / name).read_bytes() == path.read_bytes(), f"{name} differs"

gitlab = (examples / "ci" / "gitlab.yml").read_text()
for command in job("build") + job("merge"):
    spelt = command.replace("${{ matrix.targets }}", "$TARGETS").replace("${{ matrix.part }}", "$PART")
    assert f"    - {spelt}\n" in gitlab, f"gitlab.yml lacks: {spelt}"
print(f"built {', '.join(built)} apart, merged, verified")
