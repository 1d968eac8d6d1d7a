#!/usr/bin/env bash
# templates.sh PYTHON PREFIX WORK: functions and template instances by their names in the source,
# from the source to C++, `kiln inspect`, `kiln run`, Python and messages, on an emulated GPU.
set -eu
python=$1 kiln=$2/bin/kiln prefix=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cat >scaled.cu <<'SOURCE'
template <typename T, int kTimes> __global__ void scaled(unsigned n, T a, T* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; i < n && k < kTimes; ++k) x[i] *= a;
}
template __global__ void scaled<float, 2>(unsigned, float, float*);
template __global__ void scaled<double, 1>(unsigned, double, double*);
__global__ void plain(unsigned n, float* x) {
  if (threadIdx.x < n) x[threadIdx.x] += 1;
}
namespace ns {
__global__ void plain(float* x) { *x = 1; }
template <typename T> __global__ void shifted(T* x) { *x += 1; }
template __global__ void shifted<float>(float*);
}  // namespace ns
__global__ void twice(float* x) { *x *= 2; }
__global__ void twice(int* x) { *x *= 2; }
struct Line {
  float from, to, step;
};
struct Range {
  float from, to;
};
extern "C" __global__ void mark(Range range, float* x) { *x = range.to - range.from; }
extern "C" __global__ void draw(Line line, float* x) { *x = line.from + line.to * line.step; }
SOURCE
cat >targets.json <<'MANIFEST'
{"format": 1, "name": "kernels", "targets": ["gfx1100"],
 "modules": [{"name": "scaled", "sources": ["scaled.cu"]}]}
MANIFEST
"$kiln" build targets.json --out out --emit cpp --emit c --emit catalog | tee said
grep -qx '9 kernels in 1 image: out/include/kernels.hpp, kernels.h, kernels.kiln' said
"$kiln" build targets.json --out source --emit catalog --embed-source=instead

cat >uses.cpp <<'SOURCE'
#include <kernels.hpp>
static_assert(kernels::scaled<float, 2>.name() == "_Z6scaledIfLi2EEvjT_PS0_");
static_assert(kernels::scaled<double, 1>.accepts<unsigned, double, double*>());
static_assert(!kernels::scaled<float, 2>.accepts<unsigned, double, double*>());
static_assert(kernels::find("scaled") == &kernels::modules::scaled);
static_assert(kernels::plain.accepts<unsigned, float*>() && kernels::ns::plain.accepts<float*>());
struct Range {
  float from, to;
};
static_assert(kernels::mark.accepts<Range, float*>() && !kernels::mark.accepts<float*, float*>());
static_assert(kernels::ns::shifted<float>.name() == "_ZN2ns7shiftedIfEEvPT_");
SOURCE
for standard in c++17 c++20; do
  "${CXX:-c++}" -std=$standard -Wall -Wextra -Werror -fsyntax-only -Iout/include -I"$prefix/include" uses.cpp
done
if command -v nvcc >/dev/null; then
  nvcc -std=c++17 -x cu -cuda -o uses.ii -Iout/include -I"$prefix/include" uses.cpp
fi
echo '#include <kiln/runtime.hpp>
#include <kernels.hpp>
auto f(kiln::Device& device) { return device.function(kernels::scaled<float, 3>); }' >wrong.cpp
if "${CXX:-c++}" -std=c++17 -fsyntax-only -Iout/include -I"$prefix/include" wrong.cpp 2>wrong.txt; then
  echo "FAILED: scaled<float, 3> is no kernel, and compiled" >&2
  exit 1
fi
grep -q 'the sources do not instantiate this kernel: they have scaled<double, 1>, scaled<float, 2>' wrong.txt ||
  { cat wrong.txt >&2; exit 1; }

grep -q 'kernels_plain_launch(' out/include/kernels.h
"$kiln" inspect out | grep -q 'scaled<float, 2>'
"$kiln" report out --out report.html | grep -qx '9 kernels in 1 image: report.html'
grep -q '_Z6scaledIfLi2EEvjT_PS0_ (scaled.u003cfloat, 2>)' report.html
"$kiln" run out/images/scaled/gfx1100.hsaco 'scaled<float,2>' -b 32 u32:3 f32:3 buf:f32:3:ones@- | grep -q '9 9 9'

export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH="$prefix/share/kiln/python" "$python" - <<'PROGRAM'
import array
import ctypes
import kiln
device, catalog = kiln.Device("emulated:gfx1100"), kiln.Catalog("out/include/kernels.kiln")
scaled = catalog["scaled<float, 2>"]
assert scaled is catalog["scaled", "scaled<float,2>"] is catalog["_Z6scaledIfLi2EEvjT_PS0_"]
x = device.upload([1, 2, 3], "f32")
scaled.launch(device, 1, 32, 3, 3, x)
assert list(x.download()) == [9, 18, 27]
catalog["plain"].launch(device, 1, 32, 3, x)
catalog["ns::plain"].launch(device, 1, 1, x)
assert list(x.download()) == [1, 19, 28]
def refuses(words, call):
    try:
        call()
    except (KeyError, TypeError, kiln.Error) as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError("not refused: " + words)
refuses("scaled<float, 2> takes 3 arguments after device, grid and block, not 1: (u32, f32, f32*)", lambda: scaled.launch(device, 1, 32, 3))
refuses("the sources instantiate scaled<double, 1>, scaled<float, 2>", lambda: catalog["scaled"])
refuses("did you mean 'ns::shifted<float>'?", lambda: catalog["shifted"])
refuses("'twice' may be two kernels: _Z5twicePf, _Z5twicePi; name the one that is meant", lambda: catalog["twice"])
catalog["_Z5twicePf"].launch(device, 1, 1, x)
assert list(x.download()) == [2, 19, 28]
# A struct by value, for a kernel with unknown types.
class Line(ctypes.Structure):
    _fields_ = [("from_", ctypes.c_float), ("to", ctypes.c_float), ("step", ctypes.c_float)]
draw = catalog["draw"]
draw.launch(device, 1, 1, Line(1, 2, 3), x)
assert list(x.download()) == [7, 19, 28]
draw.launch(device, 1, 1, (ctypes.c_float * 3)(2, 2, 3), x)
assert list(x.download()) == [8, 19, 28]
refuses("a ctypes value or bytes of 12 bytes are wanted, such as a ctypes.Structure",
        lambda: draw.launch(device, 1, 1, 1.5, x))
class Short(ctypes.Structure):
    _fields_ = [("from_", ctypes.c_float), ("to", ctypes.c_float)]
refuses("Short has 8 bytes, the parameter has 12: lay the ctypes.Structure out as the kernel's own",
        lambda: draw.launch(device, 1, 1, Short(1, 2), x))
# A struct as large as an address.
class Range(ctypes.Structure):
    _fields_ = [("from_", ctypes.c_float), ("to", ctypes.c_float)]
mark = catalog["mark"]
for pair in (Range(1, 3), (ctypes.c_float * 2)(1, 3), bytes(Range(1, 3))):
    x.write(array.array("f", [0, 19, 28]))
    mark.launch(device, 1, 1, pair, x)
    assert list(x.download()) == [2, 19, 28]
refuses("Line has 12 bytes, the parameter has 8", lambda: mark.launch(device, 1, 1, Line(1, 2, 3), x))
for address in (x, None, [1.0, 3.0]):
    refuses("it is passed by value: a ctypes.Structure, or bytes, of 8 bytes are wanted, no address",
            lambda: mark.launch(device, 1, 1, address, x))
refuses("the name of a device is a text, not int", lambda: kiln.Device(0))
refuses("the buffer holds f32, the array f64", lambda: x.write(array.array("d", [1, 2, 3])))
refuses("the buffer holds f32, the array f64", lambda: device.upload(array.array("d", [1, 2]), "f32"))
refuses("the buffer holds f32, the array i32", lambda: x.download(array.array("i", [0, 0, 0])))
refuses("; add the instance to them", lambda: catalog["scaled<float, 3>"])
refuses("hint: KILN_DEVICE=emulated:gfx1100 runs the image for 'gfx1100'\nhint: add 'host'",
        lambda: scaled.launch(kiln.Device("host"), 1, 32, 3, 3, None))
refuses("hint: did you mean 'host'?", lambda: kiln.Device("hots"))
refuses("'host:wave64', 'emulated:gfx1030'", lambda: kiln.Device("hots"))
refuses("hint: the host takes no plain CUDA: docs/HOST.md",
        lambda: kiln.Catalog("source/include/kernels.kiln")["plain"].launch(kiln.Device("host"), 1, 32, 3, None))
for key in ("scaled<float, 3>", ("scaled", "scaled<int, 2>"), ("other", "scaled<float, 2>")):
    try:
        catalog[key]
    except KeyError:
        continue
    raise AssertionError(f"{key} was found")
PROGRAM

# No variable names a device, and there is no GPU.
env -u KILN_DEVICE KILN_CUDA_LIBRARY=/nowhere KILN_HIP_LIBRARY=/nowhere PYTHONPATH="$prefix/share/kiln/python" \
  "$python" - <<'PROGRAM'
import kiln
try:
    kiln.Catalog("out/include/kernels.kiln")["plain"].launch(kiln.Device(), 1, 32, 3, None)
except kiln.Error as error:
    assert "note: KILN_DEVICE names no device, and no GPU was found (KILN_TRACE=1 tells why)" in str(error), str(error)
else:
    raise AssertionError("a kernel without an image ran")
PROGRAM
