"""python_arguments.py CATALOG UNTYPED: the arguments that launch() accepts and refuses, on the host device,
with saxpy of examples/downstream, and with the same from a manifest without an abi file; and each kind of
array, without a GPU."""

import array
import copy
import ctypes
import math
import pathlib
import sys

import kiln
from kiln import _arguments, _library, _types

device = kiln.Device("host")
catalog = kiln.Catalog(sys.argv[1])
saxpy = catalog["saxpy"]
assert [str(one) for one in saxpy.parameters] == ["u32 n", "f32 a", "const f32* x", "f32* y"]
assert catalog["vectors", "saxpy"] is saxpy and len(catalog) == 1
assert "saxpy" in catalog and ("vectors", "saxpy") in catalog and saxpy in catalog
assert "saxpi" not in catalog and ("none", "saxpy") not in catalog and ("vectors", "saxpi") not in catalog

x = device.upload([1, 2, 3, 4], "f32")
y = device.upload(array.array("f", [1, 1, 1, 1]))


def refuses(error, words, call):
    try:
        call()
    except error as thrown:
        assert words in str(thrown), str(thrown)
    else:
        raise AssertionError("not refused: " + words)


# Numbers are converted to the type of the parameter. Arrays in the program's memory are copied to
# the device and back.
saxpy.launch(device, 1, 256, 4, 2, x, y)
assert list(y.download()) == [3, 5, 7, 9]
own = (ctypes.c_float * 4)(1, 1, 1, 1)
saxpy.launch(device, (1, 1), (256, 1, 1), ctypes.c_uint32(4), ctypes.c_float(0.5), [1, 2, 3, 4], own)
assert list(own) == [1.5, 2, 2.5, 3]
saxpy.launch(device, 1, 1, 0, 1.0, None, None)

# On a stream, from pinned memory and back; and the code of an error.
stream = device.stream()
values = device.pinned("f32", 4)
values[:] = [1, 2, 3, 4]
ordered = device.allocate("f32", 4, stream)
ordered.write(values, stream)
saxpy.launch(device, 1, 256, 4, 2, ordered, ordered, stream=stream)
ordered.download(values, stream)
stream.synchronize()
assert list(values) == [3, 6, 9, 12] and len(device.pinned("f16", 0)) == 0
ordered.fill(0x3F, stream)
ordered.download(values, stream)
stream.synchronize()
assert not stream._kept
# Work that another thread puts on the stream during a wait is kept, because it may not be done.
call = _library.call
def call_with_another_thread(function, *arguments):
    if function == "kiln_stream_synchronize":
        _library.call = call
        ordered.download(values, stream)
    call(function, *arguments)
_library.call = call_with_another_thread
stream.synchronize()
assert len(stream._kept) == 1
stream.synchronize()
assert not stream._kept
# The device waits for its streams.
ordered.download(values, stream)
device.stream()  # destroyed right away
device.synchronize()
assert not stream._kept and [one() for one in device._streams] == [stream]
assert bytes(values) == b"\x3F" * 16
ordered.fill()
assert list(ordered.download()) == [0, 0, 0, 0]
try:
    kiln.Device("cuda:99")
except kiln.Error as error:
    assert error.code == kiln.Error.UNAVAILABLE and "no device 'cuda:99'" in str(error), error

take = lambda *arguments: lambda: saxpy.launch(device, 1, 256, *arguments)
refuses(TypeError, "saxpy takes 4 arguments after device, grid and block, not 3: "
        "(u32 n, f32 a, const f32* x, f32* y)", take(4, 2, x))
refuses(TypeError, "argument 1 (u32 n): an integer is wanted", take(4.0, 2, x, y))
untyped = kiln.Catalog(sys.argv[2])["saxpy"]
y.write(array.array("f", [1, 1, 1, 1]))
untyped.launch(device, 1, 256, ctypes.c_uint32(4), ctypes.c_float(2), x, y)
assert list(y.download()) == [3, 5, 7, 9]
refuses(TypeError, "argument 1 (4 bytes): a ctypes value or bytes of 4 bytes are wanted, such as "
        "ctypes.c_float(1) or ctypes.c_int(1); or let kiln know the types, by a kernel without "
        'extern "C" or an abi file of the manifest', lambda: untyped.launch(device, 1, 256, 4, 2, x, y))
other = kiln.Device("host:wave64" if device.id == "host" else "host")
refuses(TypeError, f"the buffer lies on {other.id}, the kernel runs on {device.id}",
        lambda: saxpy.launch(device, 1, 256, 4, 2, other.upload([1, 2, 3, 4], "f32"), y))
refuses(TypeError, f"the stream is of {other.id}, the kernel runs on {device.id}",
        lambda: saxpy.launch(device, 1, 256, 4, 2, x, y, stream=other.stream()))
# Values that ctypes would cut to the lowest bits, or to the part before a NUL.
refuses(OverflowError, "the byte is 256", lambda: ordered.fill(256))
refuses(OverflowError, "grid is 4294967297", lambda: saxpy.launch(device, 2**32 + 1, 256, 4, 2, x, y))
refuses(TypeError, "grid is 1.5, not a whole number", lambda: saxpy.launch(device, 1.5, 256, 4, 2, x, y))
refuses(OverflowError, "block is -1", lambda: saxpy.launch(device, 1, (1, -1), 4, 2, x, y))
refuses(ValueError, "grid has 4 numbers", lambda: saxpy.launch(device, (1, 1, 1, 1), 256, 4, 2, x, y))
refuses(OverflowError, "shared_bytes is", lambda: saxpy.launch(device, 1, 256, 4, 2, x, y, shared_bytes=2**32))
for allocate in (device.allocate, device.pinned):
    refuses(OverflowError, "the size in bytes is", lambda: allocate("f32", 2**62 + 4))
for call in (lambda: catalog["saxpy\0"], lambda: kiln.Device("host\0"), lambda: kiln.Catalog(sys.argv[1] + "\0")):
    refuses(ValueError, "holds a NUL", call)
refuses(TypeError, "argument 1 (u32 n): an integer is wanted", take(True, 2, x, y))
refuses(OverflowError, "-1 does not fit u32", take(-1, 2, x, y))
refuses(OverflowError, "does not fit f32", take(4, 1e300, x, y))
refuses(TypeError, "f32 is wanted, not c_double", take(4, ctypes.c_double(2), x, y))
refuses(TypeError, "an array of f32 is wanted, not of f64", take(4, 2, x, array.array("d", [1] * 4)))
refuses(TypeError, "an array of f32 is wanted, not of u32", take(4, 2, x, device.allocate("u32", 4)))
refuses(TypeError, "cannot be written to", take(4, 2, x, memoryview(bytes(16)).cast("f")))
refuses(TypeError, "a list can be passed for a pointer to constant numbers alone", take(4, 2, x, [1, 1, 1, 1]))
refuses(TypeError, "a buffer or an array is wanted, not int", take(4, 2, 4096, y))
refuses(KeyError, "did you mean 'saxpy'", lambda: catalog["saxpi"])
refuses(KeyError, "did you mean catalog['vectors', 'saxpy']?", lambda: catalog["vectors.saxpy"])
refuses(KeyError, "catalog 'saxpy' has no module 'vector'; it has vectors", lambda: catalog["vector", "saxpy"])
refuses(KeyError, "module 'vectors' has no kernel 'saxpi'; did you mean 'saxpy'?", lambda: catalog["vectors", "saxpi"])
image = pathlib.Path(sys.argv[1]).parent.parent / "images/vectors/host.so"
brought = device.function(image.read_bytes(), "saxpy")
refuses(TypeError, "argument 2: a buffer or a ctypes value is wanted, such as ctypes.c_int(1), not int",
        lambda: brought.launch(1, 256, ctypes.c_uint32(4), 2, x, y))
# Two of one handle would free it twice.
for handle in (x, stream, catalog, device, brought):
    for duplicate in (copy.copy, copy.deepcopy):
        refuses(TypeError, "cannot be copied", lambda: duplicate(handle))
refuses(TypeError, "a kiln.Device comes first, not str", lambda: saxpy.launch("host", 1, 64, 4, 2, None, None))
refuses(kiln.Error, "no-such.kiln", lambda: kiln.Catalog("no-such.kiln"))

# Narrow floats are uploaded and downloaded as numbers; and upload() takes its arguments in either
# order.
for element in ("f16", "bf16", "f8"):
    given = device.upload([0, -1.5, 2**-6, 448, math.inf if element != "f8" else 0], element)
    came = given.download()
    assert list(came) == [0, -1.5, 2**-6, 448, math.inf if element != "f8" else 0], (element, came)
    assert math.isnan(device.upload([math.nan], element).download()[0]), element
    assert list(device.allocate(element, 0).download()) == []
    assert len(given.download(bytearray(given.nbytes))) == given.nbytes
for bits in range(0x7F):  # every f8
    assert _types.to_f8(_types._F8[bits]).value == bits and _types._F8[bits | 0x80] == -_types._F8[bits]
assert list(device.upload([1, 2], "f32").download()) == [1, 2]
refuses(TypeError, 'upload(values, "f32")', lambda: device.upload("f32", [1, 2]))
refuses(TypeError, 'upload(values, "f32")', lambda: device.upload("f32"))
refuses(TypeError, 'upload(values, "f32")', lambda: device.upload("f32", "f32"))
refuses(TypeError, "not int", lambda: device.upload(4, "f32"))
refuses(TypeError, "there is no element type 'float32': did you mean 'f32'?", lambda: device.upload([1], "float32"))
refuses(TypeError, "there is no element type 'f33': it is one of bool, u8", lambda: device.upload([1], "f33"))

# Numbers of types that Python lacks.
bits = lambda element, number: _types.value_of(element, number).value
assert [bits("f16", n) for n in (0, 1, -2, 65504)] == [0, 0x3C00, 0xC000, 0x7BFF]
refuses(OverflowError, "does not fit f16", lambda: bits("f16", 1e6))
assert [bits("bf16", n) for n in (0, 1, -2, 1 + 2**-8, 1 + 3 * 2**-8)] == [0, 0x3F80, 0xC000, 0x3F80, 0x3F82]
assert bits("bf16", math.nan) & 0x7FFF > 0x7F80
assert [bits("f8", n) for n in (0, 1, -1, 448, 1e9, 2**-9, 1.0625, 1.1875)] == [0, 0x38, 0xB8, 0x7E, 0x7E, 1, 0x38, 0x3A]
assert bits("f8", math.nan) == 0x7F and bits("bool", True) == 1


# Arrays on a GPU, by the protocols that describe them.
class Gpu:
    id = "cuda:0"
    waits = 0

    def synchronize(self):
        self.waits += 1


class Tensor:
    def __init__(self, **interface):
        self.__cuda_array_interface__ = interface


def address(given, position=2, on=Gpu(), stream=None):
    arguments = _arguments.Arguments(on, stream)
    arguments.add(saxpy.parameters[position], given)
    return arguments.values[0].value


tensor = Tensor(shape=(4,), typestr="<f4", data=(0x1000, True), version=3)
assert address(tensor) == 0x1000
refuses(TypeError, "the array cannot be written to", lambda: address(tensor, 3))
refuses(TypeError, "lies on a GPU, the kernel runs on host", lambda: address(tensor, 2, device))
refuses(TypeError, "not of f64", lambda: address(Tensor(shape=(4,), typestr="<f8", data=(1, False), version=3)))
refuses(TypeError, "not contiguous",
        lambda: address(Tensor(shape=(2, 2), typestr="<f4", strides=(4, 8), data=(1, False), version=3)))
refuses(TypeError, "not contiguous",
        lambda: address(Tensor(shape=(4,), typestr="<f4", strides=(8,), data=(1, False), version=3)))


# Arrays that another stream may still write to are waited for.
for theirs, ours, waits in ((None, None, 0), (1, None, 0), (0x40, 0x40, 0), (2, None, 1), (0x40, None, 1), (1, 0x40, 1)):
    gpu = Gpu()
    address(Tensor(shape=(4,), typestr="<f4", data=(1, False), version=3, stream=theirs), on=gpu, stream=ours)
    assert gpu.waits == waits, (theirs, ours, gpu.waits)


class Placed(Tensor):
    def __dlpack_device__(self):
        return self.place


placed = Placed(shape=(4,), typestr="<f4", data=(0x1000, False), version=3)
for placed.place in ((2, 0), (3, 0), (13, 1)):
    assert address(placed) == 0x1000
for placed.place in ((2, 1), (10, 0), (1, 0)):
    refuses(TypeError, "the array lies on another device than cuda:0", lambda: address(placed))


class DlPack:
    """A tensor of 4 values, passed by DLPack; `kind` and `ordinal` are its device."""

    def __init__(self, kind, code=2, bits=32, ordinal=0):
        self.values = (ctypes.c_float * 4)(1, 1, 1, 1)
        self.shape = (ctypes.c_int64 * 1)(4)
        self.tensor = _arguments._DLTensor(ctypes.addressof(self.values), kind, ordinal, 1, code, bits, 1, self.shape, None, 0)

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


on_gpu, on_host = DlPack(2), DlPack(1)
assert address(on_gpu) == ctypes.addressof(on_gpu.values)
saxpy.launch(device, 1, 256, 4, 2, x, on_host)
assert list(on_host.values) == [3, 5, 7, 9]
refuses(TypeError, "lies on another device than host:0" if device.id == "host:0" else "lies on another device",
        lambda: address(on_gpu, 2, device))
refuses(TypeError, "an array of f32 is wanted, not of f16", lambda: address(DlPack(2, 2, 16)))
refuses(TypeError, "lies on another device than cuda:0", lambda: address(DlPack(2, ordinal=1)))
on_any = DlPack(13, ordinal=1)
assert address(on_any) == ctypes.addressof(on_any.values)

try:
    import numpy
except ImportError:
    print("without numpy: its arrays were left out")
else:
    out = numpy.ones(4, numpy.float32)
    saxpy.launch(device, 1, 256, numpy.int64(4), numpy.float32(2), numpy.arange(1, 5, dtype=numpy.float32), out)
    assert out.tolist() == [3, 5, 7, 9]
    refuses(TypeError, "not of f64", take(4, 2, numpy.ones(4), y))
    refuses(TypeError, "an integer is wanted, not bool", take(numpy.bool_(True), 2, x, y))
    uploaded = device.upload(numpy.arange(3, dtype=numpy.float16), "f16")
    assert numpy.asarray(uploaded).tolist() == [0, 1, 2] and numpy.asarray(uploaded).dtype == numpy.float16
    assert numpy.asarray(device.upload([1.5, 2.5], "bf16"), numpy.float64).tolist() == [1.5, 2.5]
    refuses(TypeError, "not contiguous", take(4, 2, numpy.ones(8, numpy.float32)[::2], y))
print("all as expected")
