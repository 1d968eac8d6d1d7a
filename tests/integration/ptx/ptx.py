#!/usr/bin/env python3
"""ptx.py KILN ROOT: ptxas makes the same cubin of a PTX text and of what kiln makes of it.

The texts are hand.ptx, nvcc's PTX of sample.cu with several options, and nvcc's PTX of some of kiln's own
modules. Exits with 77 if there is no nvcc."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

kiln, root = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
here = pathlib.Path(__file__).resolve().parent
folder = tempfile.TemporaryDirectory(prefix="kiln-ptx-")
work = pathlib.Path(folder.name)
# Modules with function calls, inline assembly, and shared memory.
MODULES = ["affine", "fill", "rearrange"]
# Sections of a cubin with the text of the PTX, and with its line numbers.
LINES = {".nv_debug_ptx_txt", ".nv_debug_line_sass"}


def run(argv, where=work):
    done = subprocess.run([str(word) for word in argv], cwd=where, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def shortened(text):
    """Returns what a step that makes this PTX leaves in the out folder."""
    (work / "in.ptx").write_text(text)
    output = work / "out/images/demo/compute_90.ptx"
    run([kiln, "step", "--src=.", "--out=out", "--kind=compile", "--tool=nvcc", "--id=demo",
         f"--output={output}", "--", "/bin/cp", work / "in.ptx", output])
    return output.read_text()


def assembled(text, options):
    (work / "image.ptx").write_text(text)  # a cubin may hold the name
    target = re.search(r"^\.target (sm_\w+)", text, re.M)[1]
    run([ptxas, f"-arch={target}", *options, "image.ptx", "-o", "image.cubin"])
    return (work / "image.cubin").read_bytes()


def sections(cubin):
    """Returns the bytes of each section of an ELF file by its name."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * size) for i in range(count)]
    name_at = lambda at: cubin[headers[names][4] + at:].split(b"\0", 1)[0].decode()
    return {name_at(header[0]): b"" if header[1] == 8 else cubin[header[4]:header[4] + header[5]]
            for header in headers}


def check(name, text, options=(), stays=False, differ=frozenset()):
    after = shortened(text)
    assert (after == text) == stays, name
    assert shortened(after) == after, name
    before_cubin, after_cubin = assembled(text, options), assembled(after, options)
    before, after_sections = sections(before_cubin), sections(after_cubin)
    assert before.keys() == after_sections.keys(), name
    found = {each for each in before if before[each] != after_sections[each]}
    assert found <= differ, f"{name}: {found} differ"
    assert any(each.startswith(".text.") for each in before), name
    # Without such sections, all bytes are the same.
    assert differ or before_cubin == after_cubin, name
    print(f"{name:28} {len(text):8} {len(after):8}")


def nvcc_ptx(source, *options):
    run([nvcc, "-ptx", "-std=c++17", *options, source, "-o", "compiled.ptx"])
    return (work / "compiled.ptx").read_text()


argv = [kiln, "plan", root / "targets.json", "--target=compute_80", "--json", "--allow-missing"]
done = subprocess.run([*argv, *(f"--module={module}" for module in MODULES)], stdout=subprocess.PIPE)
plan = json.loads(done.stdout) if done.returncode == 0 else {}
if not plan.get("steps"):
    print("there is no nvcc on this machine")
    sys.exit(77)
places = dict(plan["places"], out=str(work / "plan"))
nvcc = places["nvcc"]
ptxas = pathlib.Path(nvcc).resolve().parent / "ptxas"

check("hand.ptx", (here / "hand.ptx").read_text())
sample = here / "sample.cu"
for target in ("compute_90", "compute_100"):
    check(f"sample.cu {target}", nvcc_ptx(sample, f"-arch={target}"))
text = nvcc_ptx(sample, "-arch=compute_90", "-rdc=true")
# Relocatable code names the shared memory of a function after its line in the PTX.
check("sample.cu -rdc", text, ["-c"], differ={".strtab"})
check("sample.cu -G", nvcc_ptx(sample, "-arch=compute_90", "-G"), ["-g", "-O0"], stays=True)
# Debug information that names inlined functions, and line numbers alone.
check("sample.cu -lineinfo", nvcc_ptx(sample, "-arch=compute_90", "-lineinfo"), ["-lineinfo"], stays=True)
(work / "lines.cu").write_text('extern "C" __global__ void scale(float* x, float by) {\n'
                               '  x[threadIdx.x] *= by;\n  if (by > 2) x[1] = 0;\n}\n')
check("lines.cu -lineinfo", nvcc_ptx("lines.cu", "-arch=compute_90", "-lineinfo"), ["-lineinfo"],
      differ=LINES)
for step in plan["steps"]:
    if step["kind"] != "compile":
        continue
    fill = lambda text: re.sub(r"\{([^}]+)\}", lambda found: places[found[1]], text)
    output = pathlib.Path(fill(step["output"]))
    output.parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(fill(step["depfile"])).parent.mkdir(parents=True, exist_ok=True)
    run([fill(word) for word in step["argv"]], places["src"])
    check(step["id"], output.read_text())
