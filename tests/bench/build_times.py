#!/usr/bin/env python3
"""Measures builds that compile nothing, and the time that kiln adds to that of the compilers.

  build_times.py cache    the manifest from a local cache, into an empty folder
  build_times.py http     the same from nginx on this machine; the compilers are examined again
  build_times.py nothing  the manifest, up to date
  build_times.py large    1,000 modules for 20 targets, with compilers that take no time: plan, up to date
  build_times.py cold     the selection from scratch, and ninja with the same commands

Without a name: all but `cold`. Prints the least wall time of all rounds, and the least processor time
(user and system, of kiln and all that it starts). The first round of all but `large` needs the
compilers for the manifest's targets; --module and --target select.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/support"))
import nginx  # noqa: E402

ARCHITECTURES = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
NVCC = """#!/bin/sh
# Stands for nvcc: PTX with one kernel, and no process beside this one.
case "$1" in
  --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0;;
  --list-gpu-code) echo sm_80; exit 0;;
  --list-gpu-arch) printf 'compute_%s\\n' ARCHITECTURES; exit 0;;
  --dryrun) echo "#\\$ _HERE_=${0%/*}" >&2; case "$*" in *-Xcicc*)
    echo "cicc --orig_src_path_name x --orig_src_path_name name" >&2;; esac; exit 0;;
esac
while [ $# -gt 1 ]; do
  case "$1" in -o) out=$2; shift;; -MF) deps=$2; shift;; -arch=*) arch=${1##*_};; esac
  shift
done
kernel=${1##*/}; kernel=${kernel%.cu}
printf '.version 9.0\\n.target sm_%s\\n.address_size 64\\n\\n.visible .entry %s(\\n\\t.param .u64 %s_param_0\\n)\\n{\\n\\tret;\\n}\\n' \\
  "$arch" "$kernel" "$kernel" >"$out"
echo "$out: $1 shared.cuh" >"$deps"
"""
FATBINARY = """#!/bin/sh
[ "$1" != --version ] || { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; }
for word; do case "$word" in --create=*) echo fatbin >"${word#--create=}";; esac; done
"""


def run(argv, environment, cwd=ROOT):
    """Runs a command. Returns its wall time and processor time, both in seconds."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in argv], env=environment, cwd=cwd,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if process.returncode != 0:
        sys.exit(f"build_times: failed: {argv}\n{text.decode(errors='replace')[-4000:]}")
    return wall, usage.ru_utime + usage.ru_stime


def least(rounds, prepare, argv, environment, cwd=ROOT):
    times = []
    for _ in range(rounds):
        prepare()
        times.append(run(argv, environment, cwd))
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


def row(what, times):
    print(f"{what:58} {times[0]:8.3f} s {times[1]:8.3f} s", flush=True)


def find_kiln():
    for candidate in (ROOT / "build/release/tools/kiln", ROOT / "build/tools/kiln"):
        if candidate.exists():
            return candidate
    sys.exit("build_times: no kiln here: build it, or name it: --kiln KILN")


class Builds:
    def __init__(self, options, work):
        self.kiln, self.rounds, self.work = options.kiln.resolve(), options.rounds, work
        self.manifest, self.jobs = options.manifest, f"-j{options.jobs}"
        self.selection = [word for name in ("module", "target") for one in getattr(options, name)
                          for word in (f"--{name}", one)]
        self.out, self.kept = work / "out", work / "cache"
        seed = options.cache
        if seed and not self.kept.exists():
            shutil.copytree(seed, self.kept)
        self.environment = {**os.environ, "KILN_CACHE_DIR": str(self.kept)}
        self.environment.pop("KILN_CACHE_URL", None)

    def argv(self, *more):
        return [self.kiln, "build", self.manifest, "--out", self.out, self.jobs, *self.selection, *more]

    def take_away(self, folder):
        # Renamed, not removed: for some seconds after a removal, ext4 skips each freed inode and
        # creates files at half the speed.
        if folder.exists():
            folder.rename(pathlib.Path(tempfile.mkdtemp(dir=self.work)) / "gone")

    def empty(self):
        self.take_away(self.out)

    def fill(self):
        run(self.argv(), self.environment)

    def cache(self):
        self.fill()
        row("all from the cache, into an empty folder",
            least(self.rounds, self.empty, self.argv(), self.environment))

    def nothing(self):
        self.fill()
        row("nothing to do", least(4 * self.rounds, lambda: None, self.argv(), self.environment))

    def http(self):
        program = nginx.find()
        if program is None:
            return print("http: there is no nginx here")
        self.fill()
        asked = self.work / "asked"
        environment = {**self.environment, "KILN_CACHE_DIR": str(asked)}

        def forget():
            self.empty()
            self.take_away(asked)
        with nginx.serve(program, self.work / "nginx") as url:
            # kiln never uploads an entry that the local cache already has, so the server is filled
            # here. The first build compiles nothing: its local cache is empty, and the server has
            # everything.
            upload(self.kept, self.work / "nginx" / "kept")
            environment["KILN_CACHE_URL"] = url
            forget()
            run(self.argv(), environment)
            row("all from nginx on this machine, the compilers looked at anew",
                least(self.rounds, forget, self.argv(), environment))

    def cold(self):
        plan = json.loads(subprocess.run(
            [self.kiln, "plan", self.manifest, "--json", "--out", self.out, *self.selection],
            env=self.environment, cwd=ROOT, check=True, capture_output=True).stdout)
        self.empty()
        (self.work / "build.ninja").write_text(ninja_file(plan))

        def prepare():
            self.empty()
            for step in plan["steps"]:
                for path in filter(None, (step["output"], step["depfile"])):
                    pathlib.Path(placed(path, plan)).parent.mkdir(parents=True, exist_ok=True)
            (self.out / ".kiln").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "tools/hipify/hipify_driver.pl", self.out / ".kiln/hipify_driver.pl")
            for name in (".ninja_log", ".ninja_deps"):
                (self.work / name).unlink(missing_ok=True)
        ours, theirs = [], []

        def build():
            self.empty()
            ours.append(run(self.argv("--no-cache"), self.environment))

        def ninja():
            prepare()
            theirs.append(run(["ninja", "--quiet", self.jobs], self.environment, self.work))
        # In turns, each round beginning with another one, so that both meet the same machine.
        for i in range(self.rounds):
            for one in (build, ninja) if i % 2 == 0 else (ninja, build):
                one()
        for what, times in (("kiln build --no-cache, from nothing", ours),
                            ("ninja over the same commands", theirs)):
            row(what, (min(t[0] for t in times), min(t[1] for t in times)))
        print(f"kiln to ninja: {min(t[0] for t in ours) / min(t[0] for t in theirs):.3f} of wall time, "
              f"{min(t[1] for t in ours) / min(t[1] for t in theirs):.3f} of processor time")

    def large(self):
        folder = self.work / "large"
        environment = large_project(folder)
        build = [self.kiln, "build", self.jobs]
        first = run(build, environment, folder)
        row("1,000 modules for 20 targets, from nothing", first)
        row("plan of 1,000 modules for 20 targets",
            least(self.rounds, lambda: None, [self.kiln, "plan"], environment, folder))
        row("nothing to do, of 1,000 modules for 20 targets",
            least(self.rounds, lambda: None, build, environment, folder))


def placed(text, plan):
    for name, path in plan["places"].items():
        text = text.replace("{" + name + "}", path)
    return text


def ninja_file(plan):
    def quoted(text):
        return "'" + text.replace("'", "'\\''") + "'"
    lines = ["rule step", "  command = $words"]
    outputs = {step["id"]: step["output"] for step in plan["steps"]}
    escape = str.maketrans({"$": "$$", " ": "$ ", ":": "$:"})
    for step in plan["steps"]:
        words = [f"{name}={quoted(placed(value, plan))}" for name, value in step["environment"].items()]
        words += [quoted(placed(word, plan)) for word in step["argv"]]
        inputs = sorted({placed(path, plan) for path in step["inputs"]} |
                        {placed(outputs[before], plan) for before in step["after"]})
        lines.append("build " + placed(step["output"], plan).translate(escape) + ": step " +
                     " ".join(path.translate(escape) for path in inputs))
        lines.append("  words = cd " + quoted(plan["places"]["src"]).replace("$", "$$") + " && " +
                     " ".join(words).replace("$", "$$"))
    return "\n".join(lines) + "\n"


def upload(cache, root):
    """Writes the content of a local cache in the layout of a server."""
    import hashlib
    def varint(value):
        found = b""
        while value >= 0x80:
            found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
        return found + bytes([value])
    def field(number, body):
        return varint(number << 3 | 2) + varint(len(body)) + body
    for name in ("ac", "cas"):
        (root / name).mkdir(parents=True)
    for entry in (cache / "objects").glob("*/*"):
        output, log = (entry / "output").read_bytes(), (entry / "log").read_bytes()
        digest = hashlib.sha256(output).hexdigest()
        (root / "cas" / digest).write_bytes(output)
        body = field(1, digest.encode()) + varint(2 << 3) + varint(len(output))
        (root / "ac" / (entry.parent.name + entry.name)).write_bytes(
            field(2, field(1, b"output") + field(2, body)) + field(5, log))
    for path in (cache / "lists").glob("*/*"):
        # Without the first line, the line of the key, and the last line, which is the seal.
        lines = path.read_bytes().split(b"\n")[2:-2]
        (root / "ac" / (path.parent.name + path.name)).write_bytes(
            field(5, b"".join(line + b"\n" for line in lines)))


def large_project(folder):
    tools = folder / "toolkit"
    tools.mkdir(parents=True)
    listed = " ".join(map(str, ARCHITECTURES))
    for name, text in (("nvcc", NVCC.replace("ARCHITECTURES", listed)), ("fatbinary", FATBINARY)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (folder / "shared.cuh").write_text("// shared\n")
    modules = []
    for i in range(1000):
        (folder / f"module_{i:03}.cu").write_text(f'#include "shared.cuh"\n// {i}\n')
        modules.append({"name": f"module_{i:03}", "sources": [f"module_{i:03}.cu"]})
    (folder / "targets.json").write_text(json.dumps(
        {"format": 1, "name": "large", "targets": [f"compute_{one}" for one in ARCHITECTURES],
         "modules": modules}, indent=1))
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "KILN_CACHE": "off",
            "KILN_CACHE_DIR": str(folder / "cache"), "KILN_NVCC": str(tools / "nvcc"),
            "KILN_FATBINARY": str(tools / "fatbinary"), "NVCC_CCBIN": "/nonexistent",
            "KILN_CXX": "/nonexistent", "KILN_HIPCC": "/nonexistent",
            "KILN_HIPIFY_PERL": "/nonexistent", "KILN_OFFLOAD_BUNDLER": "/nonexistent"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="*", help="cache, http, nothing, large, cold")
    parser.add_argument("--kiln", type=pathlib.Path, default=None)
    parser.add_argument("--manifest", type=pathlib.Path, default=ROOT / "targets.json")
    parser.add_argument("--cache", type=pathlib.Path, help="a cache to begin with; it is copied")
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.kiln = options.kiln or find_kiln()
    print(f"{options.kiln}, {options.rounds} rounds, {os.cpu_count()} cores, load "
          f"{os.getloadavg()[0]:.1f}: least wall time, least processor time")
    with tempfile.TemporaryDirectory(prefix="kiln-times-") as folder:
        builds = Builds(options, pathlib.Path(folder))
        for what in options.what or ("cache", "http", "nothing", "large"):
            getattr(builds, what)()


main()
