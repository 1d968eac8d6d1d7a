#!/usr/bin/env python3
"""Compares the compile time and the size of kiln's modules with those of the originals.

The unit of CPU time is the calibrator: the CPU time to compile calibrator.cu on the same machine, right
after the step. original_build.json holds the originals' figures, measured in the same way. All figures
are per compiled kernel, because the original has fewer kernels than kiln at compute_80. The bytes of PTX
are those of kiln's image, which is shortened; the originals embed what nvcc writes.

Exit: 0; with --judge, 1 if a figure is above its limit.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FORMS = {"sm_90": "sm_90 cubin", "compute_80": "compute_80 ptx"}
# Kernels of candle-kernels 0.11.0 that are not compiled for compute_80, by module.
LACKS_AT_80 = {"affine": 1, "indexing": 20, "ternary": 5, "unary": 24}
MOST_PER_KERNEL = 1.5  # times the original
MOST_PER_STEP = 2.5    # calibrators


def cpu_seconds(argv, cwd):
    """Returns the CPU time, user and system, of a command and of all that it starts."""
    process = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"build_weight: failed: {' '.join(argv)}\n{text.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime


def find_kiln():
    for place in ("build/tools/kiln", "build/release/tools/kiln"):
        if (ROOT / place).exists():
            return str(ROOT / place)
    sys.exit("build_weight: no kiln here: build it, or name it with --kiln")


def plan_of(arguments):
    argv = [arguments.kiln, "plan", arguments.manifest, "--json"]
    for target in arguments.target or FORMS:
        argv += ["--target", target]
    for module in arguments.module:
        argv += ["--module", module]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def image_of(kiln, step, output, folder):
    """Returns the image that kiln makes of what the step's compiler left in `output`."""
    if not step["target"].startswith("compute_"):
        return output.read_bytes()
    out = folder / "kiln"
    image = out / "image.ptx"
    subprocess.run([kiln, "step", f"--src={folder}", f"--out={out}", f"--kind={step['kind']}",
                    f"--tool={step['tool']}", f"--id={step['id']}", f"--output={image}", "--", "/bin/cp",
                    output, image], check=True)
    return image.read_bytes()


def measure(kiln, plan, repeats, folder):
    """Yields (module, target, id, calibrators, seconds, bytes, kernels) for each compile step."""
    places = dict(plan["places"], out=str(folder))
    nvcc = places["nvcc"]
    calibrate = [nvcc, "-cubin", "-arch=sm_90", "-O3", "-std=c++17", "-o",
                 str(folder / "calibrator.cubin"), str(HERE / "calibrator.cu")]
    cpu_seconds(calibrate, folder)  # warm-up: loads the compiler into memory
    for step in plan["steps"]:
        if step["kind"] != "compile" or step["tool"] != "nvcc":
            continue
        fill = lambda text: re.sub(r"\{([^}]+)\}", lambda found: places[found[1]], text)
        argv = [fill(word) for word in step["argv"]]
        output = pathlib.Path(fill(step["output"]))
        for path in (output, pathlib.Path(fill(step.get("depfile") or step["output"]))):
            path.parent.mkdir(parents=True, exist_ok=True)
        units, seconds = [], []
        for _ in range(repeats):
            seconds.append(cpu_seconds(argv, folder))
            units.append(seconds[-1] / cpu_seconds(calibrate, folder))
        data = image_of(kiln, step, output, folder)
        if data[:4] == b"\x7fELF":
            kernels = len(set(re.findall(rb"\x00\.text\.([A-Za-z_]\w*)(?=\x00)", data)))
        else:
            kernels = len(re.findall(rb"^\.visible \.entry ", data, re.M))
        yield (step["module"], step["target"], step["id"], statistics.median(units),
               statistics.median(seconds), len(data), kernels)


def measure_whole(arguments, places):
    """Prints the CPU time of a build of the whole manifest from scratch, with conversions and bundles."""
    with tempfile.TemporaryDirectory() as folder:
        calibrate = [places["nvcc"], "-cubin", "-arch=sm_90", "-O3", "-std=c++17", "-o",
                     folder + "/calibrator.cubin", str(HERE / "calibrator.cu")]
        units = [cpu_seconds(calibrate, folder) for _ in range(3)]
        seconds = cpu_seconds([arguments.kiln, "build", arguments.manifest, "--no-cache", "--out",
                               folder + "/out"], folder)
        units += [cpu_seconds(calibrate, folder) for _ in range(3)]
    unit = statistics.median(units)
    print(f"whole manifest: {seconds:.1f} s of CPU, {seconds / unit:.1f} calibrators of {unit:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kiln", help="the program (default: this build's)")
    parser.add_argument("--manifest", default=str(ROOT / "targets.json"))
    parser.add_argument("--module", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--target", action="append", choices=FORMS, help="only this one")
    parser.add_argument("--repeats", type=int, default=5, help="the median counts (default: 5)")
    parser.add_argument("--original", default=str(HERE / "original_build.json"))
    parser.add_argument("--judge", action="store_true", help="exit with 1 when a limit is passed")
    parser.add_argument("--whole", action="store_true",
                        help="instead: the CPU time of the manifest's build from nothing")
    arguments = parser.parse_args()
    arguments.kiln = arguments.kiln or find_kiln()
    if arguments.whole:
        measure_whole(arguments, plan_of(arguments)["places"])
        return
    original = json.loads(pathlib.Path(arguments.original).read_text())["original"]
    declared = json.loads((ROOT / "kernels/abi.json").read_text())["modules"]

    totals, failed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'step':34} {'CPU s':>7} {'calibrators':>12} {'bytes':>10} {'kernels':>8}")
        for module, target, name, units, seconds, size, kernels in measure(
                arguments.kiln, plan_of(arguments), arguments.repeats, pathlib.Path(folder)):
            heavy = units > MOST_PER_STEP
            print(f"{name:34} {seconds:7.2f} {units:12.2f} {size:10} {kernels:8}"
                  f"{f'  above {MOST_PER_STEP}' if heavy else ''}", flush=True)
            if heavy:
                failed.append(f"{name}: {units:.2f} calibrators")
            total = totals.setdefault((module, target), [0, 0, 0])
            for i, value in enumerate((units, size, kernels)):
                total[i] += value

    print(f"\n{'':22} {'kernels':>11}   {'calibrators':^23}   {'bytes':^25}")
    print(f"{'module, target':22} {'ours':>5} {'orig.':>5}   {'ours':>7} {'original':>8} {'ratio':>6}"
          f"   {'ours':>9} {'original':>9} {'ratio':>5}   (ratios are per kernel)")
    for (module, target), (units, size, kernels) in totals.items():
        line = f"{module + ' ' + target:22} {kernels:5}"
        theirs = original.get(module, {}).get(FORMS[target])
        if theirs is None:
            print(f"{line} {'-':>5}   {units:7.2f} {'-':>8} {'-':>6}   {size:9}")
            continue
        count = len(declared[module]) - (LACKS_AT_80.get(module, 0) if target == "compute_80" else 0)
        time_ratio = (units / kernels) / (theirs["calibrators"] / count)
        size_ratio = (size / kernels) / (theirs["bytes"] / count)
        for what, ratio in (("time", time_ratio), ("bytes", size_ratio)):
            if ratio > MOST_PER_KERNEL:
                failed.append(f"{module} {target}: {what} {ratio:.2f} times the original's")
        print(f"{line} {count:5}   {units:7.2f} {theirs['calibrators']:8.2f} {time_ratio:6.2f}   "
              f"{size:9} {theirs['bytes']:9} {size_ratio:5.2f}")
    print("\nPTX is counted as kiln makes it, shortened; the originals' as nvcc makes it")
    print(f"limits: {MOST_PER_KERNEL} times the original's time and bytes a kernel, "
          f"{MOST_PER_STEP} calibrators a step; above: {len(failed)}")
    for each in failed:
        print(f"  {each}")
    sys.exit(1 if failed and arguments.judge else 0)


if __name__ == "__main__":
    main()
