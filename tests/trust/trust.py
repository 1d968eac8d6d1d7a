#!/usr/bin/env python3
"""Tests that no event around a build makes kiln build a wrong image or leave stray files.

  trust.py KILN kill   [--rounds N]   SIGKILL at N random moments of a build from a cold cache
  trust.py KILN crowd  [--processes N]  N builds at once over one cache
  trust.py KILN cache  [--step N]     every Nth byte of the cache changed, one at a time
  trust.py KILN faults --library LIB [--step N]  every Nth call of each function of the C library fails
  trust.py KILN rebuild               edits under Make, Ninja and CMake
  trust.py KILN messages              the messages for each event, compared with tests/golden/messages/builds;
                                      KILN_UPDATE_GOLDEN=1 rewrites them

Each test works in its own folder with compilers that take milliseconds (toolkit/). After each event, the
next build must give the bytes of an undisturbed build, and nothing may be left behind. Prints a line of
figures. Exits with 0 if all was right, with 77 if this machine cannot run the test.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "messages" / "builds"
NAMES = ("scale", "shift", "fold")


class Project:
    """Three sources, one of which includes a header, in one module."""

    def __init__(self, world, name, text="", sources=NAMES):
        self.world = world
        self.root = world.root / name
        self.root.mkdir(parents=True)
        self.out = self.root / "out"
        (self.root / "shared.cuh").write_text(f"// {text}\n")
        for source in sources:
            (self.root / f"{source}.cu").write_text(f'#include "shared.cuh"\n// {source} {text}\n')
        listed = ", ".join(f'"{source}.cu"' for source in sources)
        (self.root / "targets.json").write_text(
            '{"format": 1, "name": "demo", "targets": ["compute_80"],\n'
            f' "modules": [{{"name": "demo", "sources": [{listed}]}}]}}\n')

    def outputs(self):
        """Returns the files of the out folder. compile_commands.json is left out: it names the folder."""
        found = {}
        for path in sorted(self.out.rglob("*")):
            name = str(path.relative_to(self.out))
            if path.is_file() and not name.startswith(".kiln/") and name != "compile_commands.json":
                found[name] = path.read_bytes()
        return found


class World:
    def __init__(self, kiln):
        self.kiln = str(pathlib.Path(kiln).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="kiln-trust-")
        self.root = pathlib.Path(self.folder.name)
        self.cache = self.root / "cache"
        self.toolkit = self.root / "toolkit"
        shutil.copytree(HERE / "toolkit", self.toolkit)
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.root), "KILN_CACHE_DIR": str(self.cache),
            "KILN_NVCC": str(self.toolkit / "nvcc"), "KILN_FATBINARY": str(self.toolkit / "fatbinary"),
            # No gcc is searched: the compilers here do not need one.
            "NVCC_CCBIN": "/nonexistent", "KILN_CXX": "/nonexistent", "KILN_HIPCC": "/nonexistent",
            "KILN_HIPIFY_PERL": "/nonexistent", "KILN_OFFLOAD_BUNDLER": "/nonexistent"}

    def start(self, project, before=(), more=()):
        return subprocess.Popen([*before, self.kiln, "build", "-j", "2"], cwd=project.root,
                                env={**self.environment, **dict(more)}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def build(self, project, **more):
        process = self.start(project, **more)
        out, err = process.communicate(timeout=120)
        return process.returncode, out + err

    def leftovers(self, project):
        """Returns the names of temporary files that a build should have removed."""
        places = [project.out / ".kiln" / "tmp", self.cache / "aside"]
        found = [path for place in places if place.is_dir() for path in place.iterdir()]
        for place in (project.root, self.cache):
            found += [path for path in place.rglob(".kiln-*~")] if place.is_dir() else []
        return [str(path) for path in found]

    def compiled(self):
        ran = self.toolkit / "ran"
        return collections.Counter(ran.read_text().splitlines()) if ran.exists() else {}


def fail(what, text=""):
    print(f"FAILED: {what}\n{text}", file=sys.stderr)
    sys.exit(1)


def clean_build(world, project):
    status, said = world.build(project)
    if status != 0:
        fail("a build that nothing happens to", said)
    return project.outputs()


def check_next_build(world, project, expected, what):
    status, said = world.build(project)
    if status != 0:
        fail(f"{what}: the next build fails", said)
    if project.outputs() != expected:
        fail(f"{what}: the next build differs", said)
    left = world.leftovers(project)
    if left:
        # A compiler that outlived its build may have written once more; the next build removes the
        # file.
        time.sleep(0.2)
        world.build(project)
        left = world.leftovers(project)
    if left:
        fail(f"{what}: left behind: {left}")


def namespace():
    """Returns the words that run a program as process 1 of a namespace; empty if that is not allowed."""
    words = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        words.append("--map-root-user")
    try:
        allowed = subprocess.run([*words, "/bin/true"], stderr=subprocess.DEVNULL, check=False)
        return words if allowed.returncode == 0 else []
    except FileNotFoundError:
        return []


def kill(arguments):
    world = World(arguments.kiln)
    project = Project(world, "demo")
    start = time.monotonic()
    expected = clean_build(world, project)
    longest = (time.monotonic() - start) * 1.2
    dice = random.Random(arguments.seed)
    killed = collections.Counter()
    for before in ([], namespace()):
        if before == [] and killed:
            print("no pid namespace can be had: that half is left out", file=sys.stderr)
            break
        kind = "in a pid namespace" if before else "alone"
        for _ in range(arguments.rounds):
            for folder in (project.out, world.cache):
                shutil.rmtree(folder, ignore_errors=True)
            process = world.start(project, before=before)
            moment = dice.uniform(0, longest)
            try:
                process.wait(moment)
                killed["ended before"] += 1
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed[kind] += 1
            process.communicate()
            check_next_build(world, project, expected, f"killed {kind} after {moment:.3f} s")
    print(f"SIGKILL: {dict(killed)}, a build takes {longest / 1.2:.2f} s")


def crowd(arguments):
    world = World(arguments.kiln)
    (world.toolkit / "delay").write_text("0.05")
    before = namespace()
    different = max(1, arguments.processes // 4)
    projects = [Project(world, f"copy{i}", text=f"project {i % different}")
                for i in range(arguments.processes)]
    processes = [world.start(project, before=before) for project in projects]
    for process, project in zip(processes, projects):
        out, err = process.communicate(timeout=600)
        if process.returncode != 0:
            fail(f"{project.root.name} of {len(projects)} at once", out + err)
    more_than_once = {line: times for line, times in world.compiled().items() if times != 1}
    if more_than_once:
        fail("steps that ran more than once", str(more_than_once))
    if sum(world.compiled().values()) != different * len(NAMES):
        fail("the number of compiles", str(world.compiled()))
    (world.toolkit / "delay").unlink()
    for i in range(different):
        shutil.rmtree(world.cache)
        expected = clean_build(world, Project(world, f"clean{i}", text=f"project {i}"))
        for project in projects[i::different]:
            if project.outputs() != expected:
                fail(f"{project.root.name} differs from a build of its own")
    print(f"crowd: {len(projects)} builds of {different} projects at once, "
          f"{'each in a pid namespace, ' if before else ''}{different * len(NAMES)} compiles")


def cache(arguments):
    world = World(arguments.kiln)
    project = Project(world, "demo", sources=("scale",))
    expected = clean_build(world, project)
    kept = world.root / "kept"
    shutil.copytree(world.cache, kept)
    files = [path.relative_to(kept) for path in sorted(kept.rglob("*")) if path.is_file()]
    tried = position = 0
    for name in files:
        size = (kept / name).stat().st_size
        changes = list(range(size)) + [None]  # None: the file is removed
        for change in changes:
            position += 1
            if position % arguments.step != 0:
                continue
            tried += 1
            what = f"{name}, {'missing' if change is None else f'byte {change} of {size} changed'}"
            shutil.rmtree(project.out)
            shutil.rmtree(world.cache)
            shutil.copytree(kept, world.cache)
            if change is None:
                (world.cache / name).unlink()
            else:
                text = bytearray((kept / name).read_bytes())
                text[change] ^= 0x80
                (world.cache / name).write_bytes(text)
            status, said = world.build(project)
            if status != 0 or project.outputs() != expected:
                fail(what, said)
            is_entry = name.parts[0] in ("objects", "lists") and (
                name.parts[0] == "objects" or change is not None)
            if said.count("damaged file") != int(is_entry):
                fail(f"{what}: what is said", said)
            shutil.rmtree(project.out)
            status, said = world.build(project)
            if status != 0 or project.outputs() != expected or "damaged file" in said:
                fail(f"{what}: it is not mended", said)
    print(f"cache: {tried} changes of {len(files)} files")


FUNCTIONS = ("open", "read", "write", "close", "rename", "mkdir", "unlinkat", "pipe2", "posix_spawn",
             "pthread_create")


def faults(arguments):
    world = World(arguments.kiln)
    project = Project(world, "demo", sources=("scale", "shift"))
    expected = clean_build(world, project)
    count_file = world.root / "count"
    told = collections.Counter()

    def faulty(function, nth):
        for folder in (project.out, world.cache):
            shutil.rmtree(folder, ignore_errors=True)
        return world.build(project, more={"LD_PRELOAD": str(pathlib.Path(arguments.library).resolve()),
                                          "KILN_TEST_FAIL": f"{function}:{nth}",
                                          "KILN_TEST_COUNT": str(count_file)}.items())

    for function in FUNCTIONS:
        status, said = faulty(function, 0)
        if status != 0:
            fail("the preloaded library", said)
        calls = int(count_file.read_text())
        step = arguments.step if calls > 16 else 1  # for rarely called functions, each call
        for nth in range(1 + (calls and arguments.seed % step), calls + 1, step):
            what = f"call {nth} of {calls} of {function} fails"
            status, said = faulty(function, nth)
            if status not in (0, 1, 2, 3):
                fail(f"{what}: exit status {status}", said)
            if status == 0 and project.outputs() != expected:
                fail(f"{what}: and the build is wrong", said)
            told["said" if status != 0 else "done without"] += 1
            check_next_build(world, project, expected, what)
    print(f"faults: {sum(told.values())} calls of {len(FUNCTIONS)} functions, {dict(told)}")


MAKEFILE = """app.txt: out/include/kernels.hpp
\tcp $< $@ && echo app >>apps
out/include/kernels.hpp: out/include/kernels.hpp.stamp ; @test -e $@ || { rm $<; $(MAKE) $<; }
out/include/kernels.hpp.stamp: targets.json
\t$(KILN) build -j2 --out out --depfile kernels.d >>log && echo kiln >>runs
-include kernels.d
"""
NINJA = """rule kiln
  command = $kiln build -j2 --out out --depfile kernels.d >>log && echo kiln >>runs
  depfile = kernels.d
  restat = 1
rule copy
  command = cp $in $out && echo app >>apps
build out/include/kernels.hpp.stamp | out/include/kernels.hpp: kiln targets.json
build app.txt: copy out/include/kernels.hpp
"""
CMAKE = """cmake_minimum_required(VERSION 3.22)
project(demo LANGUAGES CXX)
add_executable(kiln::kiln IMPORTED)
set_target_properties(kiln::kiln PROPERTIES IMPORTED_LOCATION "${KILN_COUNTED}")
add_library(kiln::headers INTERFACE IMPORTED)
target_include_directories(kiln::headers INTERFACE "${KILN_SOURCE}/runtime/include")
include("${KILN_SOURCE}/cmake/KilnAddKernels.cmake")
kiln_add_kernels(TARGET kernels MANIFEST targets.json)
add_library(app OBJECT main.cpp)
target_link_libraries(app PRIVATE kernels)
"""


def rebuild(arguments):
    """Edits, adds, renames and deletes sources and headers under Make, Ninja and CMake."""
    world = World(arguments.kiln)
    tried = []
    for tool in ("make", "ninja", "cmake"):
        if shutil.which(tool) is None:
            continue
        rebuild_with(world, tool)
        tried.append(tool)
    print(f"rebuild: {', '.join(tried)}")


def rebuild_with(world, tool):
    project = Project(world, tool, text=tool)
    root = project.root
    environment = {**os.environ, **world.environment, "PATH": os.environ["PATH"]}
    for name in ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "MAKEFLAGS", "MFLAGS"):
        environment.pop(name, None)
    if tool == "make":
        (root / "Makefile").write_text(MAKEFILE)
        command = ["make", f"KILN={world.kiln}", "app.txt"]
    elif tool == "ninja":
        (root / "build.ninja").write_text(f"kiln = {world.kiln}\n" + NINJA)
        command = ["ninja", "app.txt"]
    else:
        counted = root / "counted"
        counted.write_text(f'#!/bin/sh\n"{world.kiln}" "$@" && echo kiln >>"{root}/runs"\n')
        counted.chmod(0o755)
        (root / "CMakeLists.txt").write_text(CMAKE)
        (root / "main.cpp").write_text("#include <kernels.hpp>\nint main_of_app() { return 0; }\n")
        made = subprocess.run(["cmake", "-G", "Unix Makefiles", "-B", "build",
                               f"-DKILN_COUNTED={counted}", f"-DKILN_SOURCE={HERE.parent.parent}"],
                              cwd=root, env=environment, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            fail("cmake", made.stdout + made.stderr)
        command = ["cmake", "--build", "build"]

    def lines(name):
        return len((root / name).read_text().splitlines()) if (root / name).exists() else 0

    def consumer():
        found = list(root.glob("build/**/main.cpp.o")) + list(root.glob("app.txt"))
        return found[0].stat().st_mtime_ns if found else 0

    def expect(what, kiln, app):
        runs, before = lines("runs"), consumer()
        made = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True,
                              check=False)
        said = made.stdout + made.stderr
        if made.returncode != 0:
            fail(f"{tool}: {what}", said)
        ran = lines("runs") - runs
        allowed = kiln if isinstance(kiln, tuple) else (kiln,)
        if ran not in allowed or (consumer() != before) != app:
            fail(f"{tool}: {what}: kiln ran {ran} times, the program was "
                 f"{'' if consumer() != before else 'not '}made again", said)

    def write(name, text):
        (root / name).write_text(text)

    def sources(*names):
        listed = ", ".join(f'"{name}"' for name in names)
        write("targets.json", '{"format": 1, "name": "demo", "targets": ["compute_80"], "modules": '
                              f'[{{"name": "demo", "sources": [{listed}]}}]}}')

    expect("the first build", 1, True)
    expect("nothing changed", 0, False)
    os.utime(root / "scale.cu")
    expect("a source was touched", 1, False)
    expect("nothing changed since", 0, False)
    write("scale.cu", '#include "shared.cuh"\n// edited\n')
    expect("a source was edited", 1, True)
    write("shared.cuh", "// edited\n")
    expect("a header was edited", 1, True)
    write("extra.cuh", "// extra\n")
    write("fold.cu", '#include "extra.cuh"\n')
    expect("a header was added", 1, True)
    write("extra.cuh", "// extra, edited\n")
    expect("the added header was edited", 1, True)
    (root / "extra.cuh").rename(root / "other.cuh")
    write("fold.cu", '#include "other.cuh"\n')
    expect("a header was renamed", 1, True)
    (root / "other.cuh").unlink()
    write("fold.cu", "// alone\n")
    expect("a header was deleted", 1, True)
    (root / "fold.cu").rename(root / "folded.cu")
    sources("scale.cu", "shift.cu", "folded.cu")
    expect("a source was renamed", 1, True)
    (root / "folded.cu").unlink()
    sources("scale.cu", "shift.cu")
    expect("a source was deleted", 1, True)
    write("added.cu", "// added\n")
    sources("scale.cu", "shift.cu", "added.cu")
    expect("a source was added", 1, True)
    write("added.cu", "// added, edited\n")
    expect("the added source was edited", 1, True)
    # The Makefiles of older releases of CMake never forget a file that a depfile named: for a
    # removed file, kiln runs again.
    expect("nothing changed at last", (0, 1) if tool == "cmake" else 0, False)
    (next(root.glob("**/include/kernels.hpp"))).unlink()
    expect("the generated header was deleted", 1, True)
    # As in docs/BUILD.md.
    image = next(root.glob("**/images/**/*.ptx"))
    image.unlink()
    next(root.glob("**/include/kernels.hpp.stamp")).unlink()
    expect("an image and the stamp were deleted", 1, False)
    if not image.exists():
        fail(f"{tool}: an image that was deleted stays away")


class Story:
    """kiln commands on one project, and everything that they print: a golden file."""

    def __init__(self, kiln, name, sources=("scale", "shift")):
        self.world = World(kiln)
        self.name = name
        self.project = Project(self.world, "project", sources=sources)
        self.root = self.project.root
        self.text = ""

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *words, without=(), during=None, **variables):
        environment = {**self.world.environment, **variables}
        for name in without:
            del environment[name]
        process = subprocess.Popen([self.world.kiln, *words], cwd=self.root, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        if during is not None:
            during()
        said = process.communicate(timeout=60)[0]
        given = "".join(f"{name}={value} " for name, value in sorted(variables.items()))
        self.tell(f"{given}kiln {' '.join(words)}", f"{said}[{process.returncode}]\n")

    def build_quietly(self, *words, **variables):
        """Runs a command whose output is not part of the story."""
        return subprocess.run([self.world.kiln, *words], cwd=self.root, check=False,
                              env={**self.world.environment, **variables}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def tell(self, what, text):
        text = f"$ {what}\n{text}".replace(str(self.world.root), "{root}")
        text = re.sub(r"\(\d+(\.\d+)? (s|ms)\)", "(time)", text)
        self.text += re.sub(r"(?m)^\[\d+/\d+\] ", "", text)

    def check(self):
        path = GOLDEN / f"{self.name}.txt"
        if os.environ.get("KILN_UPDATE_GOLDEN") == "1":
            GOLDEN.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text)
        elif not path.exists() or path.read_text() != self.text:
            fail(f"{path} has another text", self.text)


def messages(arguments):
    def story(name, **more):
        stories.append(Story(arguments.kiln, name, **more))
        return stories[-1]

    stories = []
    build = ("build", "-j1", "--out", "out")

    one = story("steering_variable", sources=("scale",))
    gcc = one.world.toolkit / "another-gcc"
    gcc.write_text("#!/bin/sh\n")
    gcc.chmod(0o755)
    one.run(*build)
    one.run(*build, "--explain", NVCC_CCBIN=str(gcc))
    one.run(*build, "--explain", NVCC_CCBIN=str(gcc), NVCC_APPEND_FLAGS="-G")

    one = story("option_names_a_file", sources=("scale",))
    one.write("words.txt", "-DONE")
    one.run(*build, NVCC_APPEND_FLAGS="--options-file words.txt")
    one.write("words.txt", "-DTWO")
    one.run(*build, "--explain", NVCC_APPEND_FLAGS="--options-file words.txt")

    one = story("edit_during_a_build")
    (one.world.toolkit / "delay").write_text("0.7")
    ran = one.world.toolkit / "ran"

    def edit():
        while not ran.exists():
            time.sleep(0.01)
        one.write("shift.cu", "// edited\n")
    one.run(*build, during=edit)
    (one.world.toolkit / "delay").unlink()
    one.run(*build, "--explain")

    one = story("folder_removed_during_a_build", sources=("scale",))
    (one.world.toolkit / "delay").write_text("0.7")

    def remove():
        while not ran.exists():
            time.sleep(0.01)
        shutil.rmtree(one.project.out)
    ran = one.world.toolkit / "ran"
    # The message of the compiler comes from its shell.
    process = one.world.start(one.project)
    remove()
    one.tell("kiln build, and rm -r out", f"[{process.wait()}]\n")
    (one.world.toolkit / "delay").unlink()
    one.run(*build)

    one = story("damaged_cache", sources=("scale",))
    one.run(*build)
    for entry in one.world.cache.glob("objects/*/*/output"):
        entry.write_bytes(b"exchanged" + entry.read_bytes())
    shutil.rmtree(one.project.out)
    one.run(*build)
    shutil.rmtree(one.project.out)
    one.run(*build)
    for path in one.world.cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-20])
    one.run("cache", "clear")
    one.run("cache", "trim", "--size", "1K")
    shutil.rmtree(one.project.out)
    one.run(*build)
    shutil.rmtree(one.project.out)
    one.run(*build)
    one.run("cache", "clear")

    one = story("moved_cache_entry", sources=("scale", "shift"))
    one.run(*build)
    entries = list(one.world.cache.glob("objects/*/*"))
    for entry in entries[1:]:
        shutil.rmtree(entry)
        shutil.copytree(entries[0], entry)
    shutil.rmtree(entries[0])
    shutil.rmtree(one.project.out)
    one.run(*build)

    one = story("names_that_collide")
    (one.root / "targets.json").write_text(
        '{"format": 1, "name": "demo", "targets": ["compute_80"], "modules": [{"name": "demo",\n'
        ' "sources": ["d1/x.cu", "d2/x.cu", "x-0.cu", "...cu"]}]}')
    for name in ("d1/x", "d2/x", "x-0", ".."):
        one.write(f"{name}.cu", "// a kernel\n")
    one.run("plan", "--out", "out")

    one = story("links_out_of_the_folder", sources=("scale",))
    one.run(*build)
    other = one.world.root / "other"
    other.mkdir()
    (other / "mine").write_text("mine")
    shutil.rmtree(one.project.out / "images")
    (one.project.out / "images").symlink_to(other)
    one.run(*build)
    (one.project.out / "images").unlink()
    (one.project.out / "hip").symlink_to(other)
    one.run(*build)
    one.run("plan", "--out", "out", "--ninja", "kernels.ninja")
    one.tell("ls {root}/other", "\n".join(os.listdir(other)) + "\n")

    one = story("out_folder_of_others", sources=("scale",))
    one.run("build", "--out", ".")
    one.run(*build, "--depfile", "targets.json")

    one = story("copied_without_hidden_files", sources=("scale",))
    one.run(*build)
    shutil.rmtree(one.project.out / ".kiln")
    one.run(*build)
    (one.project.out / "kiln.json").write_text("{")
    one.run("verify", "out")
    one.run(*build)
    shutil.rmtree(one.project.out / ".kiln")
    (one.project.out / "kiln.json").write_text("{}")
    one.run(*build)

    one = story("no_home", sources=("scale",))
    one.run(*build, without=("HOME", "KILN_CACHE_DIR"))

    one = story("cache_of_others", sources=("scale",))
    one.world.cache.mkdir()
    one.world.cache.chmod(0o777)
    one.run(*build)

    one = story("cache_with_files_of_others", sources=("scale",))
    (one.world.cache / "objects").mkdir(parents=True)
    (one.world.cache / "objects" / "thesis").write_text("mine")
    one.run(*build)
    one.run("cache", "clear")
    one.tell("ls {root}/cache/objects", "\n".join(os.listdir(one.world.cache / "objects")) + "\n")

    one = story("keep_going")
    one.write("targets.json", '{"format": 1, "name": "demo", "targets": ["compute_80"], "modules": [\n'
              ' {"name": "whole", "sources": ["scale.cu"]}, {"name": "broken", "sources": ["shift.cu"]}]}')
    one.write("abi.json", '{"format": 1, "modules": {"whole": {"scale": ["u64 n"]}, "broken": {"other": []}}}')
    manifest = (one.root / "targets.json").read_text()
    one.write("targets.json", manifest.replace('"targets"', '"abi": "abi.json", "targets"'))
    one.run(*build, "--keep-going")
    one.run("verify", "out", "targets.json")
    one.tell("ls out/include", "\n".join(os.listdir(one.project.out / "include")) + "\n")

    one = story("old_images", sources=("scale",))
    one.run(*build)
    manifest = (one.root / "targets.json").read_text()
    one.write("targets.json", manifest.replace("demo\", \"sources", "another\", \"sources"))
    one.run(*build)

    one = story("changed_image", sources=("scale",))
    one.run(*build)
    image = next((one.project.out / "images").rglob("*.ptx"))
    image.write_text(image.read_text().replace("ret;", "trap;"))
    one.run("inspect", "out")
    one.run(*build, "--explain")

    one = story("json_of_a_wrong_manifest", sources=("scale",))
    one.run(*build, "--json", "--target", "compute_8O")
    one.run("plan", "--json", "--module", "dem")
    one.write("targets.json", (one.root / "targets.json").read_text().replace("compute_80", "compute_8O"))
    one.run(*build, "--json")

    one = story("misspelt_variables", sources=("scale",))
    one.run(*build, KILN_CACHE_DIRR="cache", KILN_DEVCE="host", KILN_OF_MINE="1")
    one.run("build", "--embed-source", "beside", "-j1")
    one.run("build", "--embed-source", "besides")

    one = story("odd_sources", sources=("scale",))
    os.mkfifo(one.root / "pipe.cu")
    (one.root / "loop.cu").symlink_to("loop.cu")
    (one.root / "folder.cu").mkdir()
    names = ("pipe.cu", "loop.cu", "folder.cu", "-x.cu", "@x.cu", "$(touch x).cu", "{out}.cu", "tab\\t.cu",
             "../out.cu", "gone.cu")
    one.write("targets.json", '{"format": 1, "name": "demo", "targets": ["compute_80"], "modules": [\n'
              ' {"name": "demo", "sources": [\n' + ",\n".join(f'"{name}"' for name in names) + "]}]}")
    one.run(*build)

    one = story("depfile", sources=("scale",))
    one.run(*build, "--depfile", "kernels.d")
    text = (one.root / "kernels.d").read_text()
    one.tell("cat kernels.d", "\n".join(filter(None, text.splitlines())) + "\n")
    one.run("build", "-j1", "--out", "a=b/out", "--depfile", "equals.d")
    one.write("a;touch x.cu", "// a kernel\n")
    one.write("targets.json", manifest.replace("scale.cu", "a;touch x.cu"))
    one.run(*build, "--depfile", "kernels.d")

    merges(story)
    verifications(story)
    differences(story)
    for one in stories:
        one.check()
    print(f"messages: {len(stories)} files")


def merges(story):
    """Messages for parts that do not belong to one build."""
    def part(one, out, arch="compute_90", **variables):
        words = ("build", "-j1", "--out", out, "--target", arch)
        if one.build_quietly(*words, **variables) != 0:
            fail(f"{one.name}: the build of {out}")

    one = story("merge_of_other_things", sources=("scale", "shift"))
    manifest = (one.root / "targets.json").read_text()
    part(one, "one", "compute_80")
    one.write("targets.json", manifest.replace('"modules"', '"flags": ["-DX=1"], "modules"'))
    part(one, "flag")
    one.run("merge", "one", "flag", "--out", "all")
    one.write("targets.json", manifest)
    part(one, "environment", NVCC_APPEND_FLAGS="-DX=1")
    one.run("merge", "one", "environment", "--out", "all")
    one.write("targets.json", manifest.replace("shift.cu", "fold.cu"))
    one.write("fold.cu", "// fold\n")
    part(one, "kernel")
    one.run("merge", "one", "kernel", "--out", "all")
    one.write("targets.json", manifest.replace('"modules"', '"embed": {"namespace": "n"}, "modules"'))
    one.write("shared.cuh", "// edited\n")
    part(one, "source")
    one.run("merge", "one", "source", "--out", "all")
    one.write("targets.json", manifest)
    one.write("shared.cuh", "// \n")
    nvcc = one.world.toolkit / "nvcc"
    nvcc.write_text(nvcc.read_text().replace("V13.0.88", "V13.1.1"))
    part(one, "tool")
    one.run("merge", "one", "tool", "--out", "all")
    one.write("targets.json", '{"format": 1, "name": "demo", "targets": ["compute_80"], "modules": [\n'
              ' {"name": "all", "sources": ["scale.cu"]},\n'
              ' {"name": "some", "sources": ["shift.cu"], "targets": ["compute_80", "compute_90"]}]}\n')
    part(one, "both", "compute_80")
    part(one, "some")
    one.run("merge", "both", "some", "--out", "all")

    one = story("merge_of_what_is_none", sources=("scale",))
    part(one, "one", "compute_80")
    part(one, "two", "compute_80")
    one.run("merge", "one", "two", "--out", "all")
    one.run("merge", "one", "none", "--out", "all")
    one.run("merge", "one", "--out", "one/")
    one.run("strip", "one", "--keep", "gfx1100", "--out", "some")
    one.run("strip", "one", "--keep", "sm_91", "--out", "some")
    image = next((one.root / "two").rglob("*.ptx"))
    image.write_text(image.read_text().replace("ret;", "trap;"))
    (one.root / "two/bundles/demo.fatbin").unlink()
    one.run("merge", "one", "two", "--out", "all")
    one.write("others/file", "")
    one.run("merge", "one", "--out", "others")
    one.run("merge", "one", "--out", "all")  # the fatbinary stand-in packs none


def verifications(story):
    """Messages for builds that were changed."""
    one = story("verify", sources=("scale",))
    manifest = (one.root / "targets.json").read_text().replace('80"', '80", "compute_90"')
    one.write("targets.json", manifest)
    one.run("verify", ".")
    one.build_quietly("build", "--out", "out")
    one.run("verify", ".")
    one.run("verify", "out")
    one.run("report", "out")
    include = one.root / "out/include"
    header = (include / "kernels.hpp").read_text()
    one.write("out/include/kernels.hpp", header + "// edited\n")
    (include / "kernels.spdx.json").rename(one.root / "spdx.json")
    one.run("verify", "out")
    one.write("out/include/kernels.hpp", header)
    (one.root / "spdx.json").rename(include / "kernels.spdx.json")
    (include / "kernels.sha256").rename(one.root / "kernels.sha256")
    one.run("verify", "out")
    (one.root / "kernels.sha256").rename(include / "kernels.sha256")
    sums = (include / "kernels.sha256").read_text()
    one.write("out/include/kernels.hpp", header + "// edited\n")
    for text in ("", sums.splitlines()[-1] + "\n"):
        one.write("out/include/kernels.sha256", text)
        one.run("verify", "out")
    one.write("out/include/kernels.sha256", sums)
    one.write("out/include/kernels.hpp", header)
    images = one.root / "out/images/demo"
    first, second = images / "compute_80.ptx", images / "compute_90.ptx"
    texts = first.read_text(), second.read_text()
    first.write_text(texts[1])
    second.write_text(texts[0])
    one.run("verify", "out")
    first.write_text(texts[0].replace("ret;", "trap;"))
    second.unlink()
    one.run("verify", "out")
    first.write_text(texts[0])
    second.mkdir()  # exists, but cannot be read
    one.run("verify", "out")
    one.run("strip", "out", "--keep", "compute_80", "--out", "some")
    second.rmdir()
    second.write_text(texts[1])
    catalog = one.root / "out/kiln.json"
    text = catalog.read_text()
    catalog.write_text(text.replace('"name": "scale"', '"name": "scaled"'))
    one.run("verify", "out")
    catalog.write_text(text.replace('"target": "compute_80"', '"target": "compute_75"'))
    one.run("verify", "out")
    catalog.write_text(text.replace('"max_threads": null', '"max_threads": 64'))
    one.run("verify", "out")
    catalog.write_text(text.replace("PTX ISA 9.0", "PTX ISA 7.0", 1))
    one.run("verify", "out")
    catalog.write_text(re.sub('"size": [0-9]{2,}', '"size": 5', text))
    one.run("verify", "out")
    for count in (0, 1):  # all of them, and only the module's
        catalog.write_text(re.sub('"source_digest": "....', '"source_digest": "0000', text, count=count))
        one.run("verify", "out")
    catalog.write_text(text)
    sources = one.root / "out/images/demo.sources"
    said = sources.read_text()
    sources.write_text(said[:-1])
    one.run("verify", "out")
    sources.unlink()
    one.write("out/images/demo/compute_61.ptx", texts[0] + "// another\n")
    one.write("out/images/demo/vertical/gfx999.hsaco", "no image")
    one.write("out/images/demo/notes.txt", "of the user")
    one.run("verify", "out")
    sources.write_text(said)
    shutil.rmtree(images / "vertical")
    (images / "compute_61.ptx").unlink()
    one.run("verify", "out")
    # Images of an earlier build with more targets, from the same sources, are not foreign.
    one.build_quietly("build", "--out", "out", "--target", "compute_90")
    one.run("verify", "out")
    one.build_quietly("build", "--out", "out")
    one.write("new.json", manifest.replace('"modules"', '"min_driver": "12.4", "budgets": '
                                           '{"image_bytes": 100, "total_bytes": 150}, "modules"'))
    one.run("verify", "out", "new.json")
    one.run("verify", "out", "new.json", "--json")
    one.run("verify", "out", "--json")
    one.build_quietly("build", "new.json", "--out", "out")
    one.run("verify", "out")
    one.write("abi.json", '{"format": 1, "modules": {"demo": {"scale": ["u64 x", "u32 y"]}}}')
    one.write("new.json", manifest.replace('"modules"', '"abi": "abi.json", "modules"'))
    one.run("verify", "out", "new.json")
    one.write("abi.json", '{"format": 1, "modules": {"demo": {"scales": ["u64 x"], "_Z5scalePf": []}}}')
    one.run("verify", "out", "new.json")
    # With several sources: if one image is missing, the other kernels of its target are not
    # compared.
    one.write("two.json", manifest.replace('"scale.cu"', '"scale.cu", "shift.cu"'))
    one.write("shift.cu", "// shift\n")
    one.build_quietly("build", "two.json", "--out", "two")
    image = one.root / "two/images/demo/shift/compute_80.ptx"
    image.write_text(image.read_text().replace("ret;", "trap;"))
    one.run("verify", "two")


def differences(story):
    """Messages about the differences between two builds."""
    one = story("diff", sources=("scale", "shift"))
    manifest = (one.root / "targets.json").read_text()
    abi = '{"format": 1, "modules": {"demo": {%s}}}'
    one.write("abi.json", abi % '"scale": ["u64 x"], "shift": ["u64 x"]')
    one.write("targets.json", manifest.replace('"modules"', '"abi": "abi.json", "modules"'))
    one.build_quietly("build", "--out", "old")
    one.run("diff", "old", "old")
    source = (one.root / "scale.cu").read_text()
    one.write("scale.cu", source.replace("// scale", "// SCALE"))
    one.build_quietly("build", "--out", "other")
    one.run("diff", "old", "other")
    one.write("scale.cu", source)
    one.write("abi.json", abi % '"scale": ["const f32* y"], "fold": ["u64 x"]')
    one.write("targets.json", manifest.replace('"modules"', '"abi": "abi.json", "modules"')
              .replace("shift.cu", "fold.cu").replace('80"', '80", "compute_90"'))
    one.write("fold.cu", "// fold\n")
    one.build_quietly("build", "--out", "new")
    one.run("diff", "old", "new")
    one.run("diff", "old", "new", "--json")
    one.run("diff", "new", "old", "--fail-on", "removed", "--fail-on", "size=5%")
    one.run("diff", "old", "new", "--fail-on", "signature")
    one.run("diff", "old", "none")
    catalog = one.root / "new/kiln.json"
    catalog.write_text(catalog.read_text().replace('"name": "fold"', '"name": "fold\\n+ kernel demo.forged"'))
    one.run("diff", "old", "new")
    # C++ kernels, whose names include their parameters.
    for build, names in (("old", {"scale": "_Z5scalePf", "shift": "_Z3addPff"}),
                         ("new", {"scale": "_Z5scalePfj", "fold[^\"]*": "_Z3subPd"})):
        catalog = one.root / build / "kiln.json"
        text = catalog.read_text()
        for name, mangled in names.items():
            text = re.sub(f'"name": "{name}"', f'"name": "{mangled}"', text)
        catalog.write_text(text)
    one.run("diff", "old", "new")
    one.run("diff", "old", "new", "--json")
    one.run("diff", "old", "new", "--fail-on", "removed")
    one.run("diff", "old", "new", "--fail-on", "removed", "--fail-on", "signature")
    # The limit on the threads of a block, first added and then lowered.
    text = (one.root / "old/kiln.json").read_text()
    for build, most in (("wide", 512), ("narrow", 256)):
        one.write(f"{build}/kiln.json", text.replace('"max_threads": null', f'"max_threads": {most}', 1))
    one.run("diff", "wide", "old", "--fail-on", "threads")
    one.run("diff", "old", "wide", "--fail-on", "threads=512")
    one.run("diff", "wide", "narrow", "--json", "--fail-on", "threads")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kiln")
    parser.add_argument("what", choices=("kill", "crowd", "cache", "faults", "rebuild", "messages"))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library")
    arguments = parser.parse_args()
    {"kill": kill, "crowd": crowd, "cache": cache, "faults": faults,
     "rebuild": rebuild, "messages": messages}[arguments.what](arguments)


if __name__ == "__main__":
    main()
