"""Devices, their memory, and the kernels of images that the caller supplies."""

import array
import ctypes
import weakref

from . import _library, _types


class Device(_library.Handle):
    """The default device, or the one that is named, such as "cuda:0" or "host". Objects that it
    creates keep it open."""

    def __init__(self, name=None):
        runtime = _library.make("kiln_runtime_open", None if name is None else _library.text(name, "the name of a device"))
        try:
            super().__init__(_library.make("kiln_device_open", runtime, None), "kiln_device_free")
        finally:
            _library.library().kiln_runtime_free(runtime)
        info = _library.DeviceInfo()
        _library.library().kiln_device_get_info(self._handle, ctypes.byref(info))
        self.id, self.name, self.target = info.id.decode(), info.name.decode(), info.target.decode()
        self.wave_width, self.memory_bytes = info.wave_width, info.memory_bytes
        self.max_threads_per_block = info.max_threads_per_block
        self._streams = []  # weak references in any order

    def __repr__(self):
        return f"<Device {self.id}: {self.name}>"

    def allocate(self, element, count, stream=None):
        """Returns a Buffer for `count` values of an element type ("f32", "u8", ...), not
        initialised. With a Stream, the allocation is in the order of that stream, and work on other
        streams has to wait for it."""
        return Buffer(self, element, count, stream)

    def upload(self, values, element=None):
        """Returns a Buffer with the values of an array. The array may be a numpy or ctypes array or
        any other contiguous object with Python's buffer protocol, or a list of numbers. A list
        needs an element type: upload([1, 2], "f32")."""
        if values is None or isinstance(values, str):
            raise TypeError('upload() wants values and their element type: upload(values, "f32")')
        if element is not None:
            _check_element(element)
        if isinstance(values, (list, tuple)):
            if element is None:
                raise TypeError('upload() of a list wants its element type: upload(values, "f32")')
            host = b"".join(bytes(_types.value_of(element, value)) for value in values)
            buffer = Buffer(self, element, len(values))
            buffer.write(host)
            return buffer
        try:
            view = memoryview(values)
        except TypeError:
            raise TypeError(f"upload() takes a list of numbers or an array, not {type(values).__name__}") from None
        found = _types.element_of_format(view.format, view.itemsize)
        if element is None:
            if found is None:
                raise TypeError(f"there is no element type for format {view.format!r}: say which is meant")
            element = found
        buffer = Buffer(self, element, view.nbytes // _types.SIZES[element])
        buffer.write(values)
        return buffer

    def pinned(self, element, count):
        """Returns a ctypes array of `count` values in page-locked host memory. Buffer.write and
        Buffer.download take it with a stream."""
        return pinned(self, element, count)

    def stream(self):
        """Returns a new Stream of the device."""
        return Stream(self)

    def function(self, image, kernel):
        """Returns the Function of a kernel of an image. An image is the bytes of a cubin, PTX, code
        object, bundle or host image."""
        image, kernel = bytes(memoryview(image)), _library.text(kernel, "the name of a kernel")
        size = ctypes.c_size_t(len(image))
        return Function(self, _library.make("kiln_function_load", self._handle, kernel, image, size))

    def synchronize(self):
        """Waits for all work of the device. Raises the errors of that work."""
        waited = [stream for stream in (reference() for reference in list(self._streams)) if stream is not None]
        _wait(waited, "kiln_device_synchronize", self._handle)


def host_bytes(values, writable=False):
    """Returns a ctypes view of the bytes of an object with the buffer protocol, and the memoryview
    that keeps it alive."""
    view = memoryview(values)
    if not view.c_contiguous:
        raise TypeError("the array is not contiguous")
    if writable and view.readonly:
        raise TypeError("the array cannot be written to")
    if view.nbytes == 0:
        return (ctypes.c_char * 0)(), view
    flat = view.cast("B")
    if view.readonly:
        return (ctypes.c_char * view.nbytes).from_buffer_copy(flat), view
    return (ctypes.c_char * view.nbytes).from_buffer(flat), view


def _check_element(element):
    if element not in _types.SIZES:
        meant = _types.OTHER_NAMES.get(element) if isinstance(element, str) else None
        hint = f"did you mean {meant!r}?" if meant else f"it is one of {', '.join(_types.SIZES)}"
        raise TypeError(f"there is no element type {element!r}: {hint}")


def _wait(streams, function, *arguments):
    """Calls a function of kiln.h that waits for the streams, and then drops the objects that they
    kept."""
    objects_of_streams = []
    for stream in streams:  # work that another thread adds meanwhile is not waited for
        objects_of_streams.append(stream._kept)
        stream._kept = []
    try:
        _library.call(function, *arguments)
    except _library.Error:
        for stream, objects in zip(streams, objects_of_streams):
            stream._kept[:0] = objects
        raise


class Stream(_library.Handle):
    """A stream of work that runs in order: launch(..., stream=stream), buffer.write(array,
    stream)."""

    def __init__(self, device):
        super().__init__(_library.make("kiln_stream_create", device._handle), "kiln_stream_free")
        self.device = device
        self.native = ctypes.c_void_p(_library.library().kiln_stream_native(self._handle))
        self._kept = []  # objects that pending work uses
        device._streams.append(weakref.ref(self, device._streams.remove))

    def __del__(self):
        if getattr(self, "_kept", None):
            try:
                self.synchronize()
            except _library.Error:
                pass  # no caller is left that could handle it
        super().__del__()

    def give(self, function, arguments, *objects):
        """Calls a function of kiln.h that puts work on the stream, and keeps the objects that the
        work uses. They are kept after the call, so that synchronize() drops only objects whose work
        it waits for."""
        try:
            _library.call(function, *arguments)
        finally:
            self._kept.append(objects)

    def synchronize(self):
        """Waits until all work given to the stream is done. Raises the errors of that work."""
        _wait([self], "kiln_stream_synchronize", self._handle)


class _Pinned(_library.Handle):
    def __init__(self, device, nbytes):
        super().__init__(_library.make("kiln_pinned_allocate", device._handle, ctypes.c_size_t(nbytes)),
                         "kiln_pinned_free")


def pinned(device, element, count):
    """Implements Device.pinned()."""
    _check_element(element)
    number = {"f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool}.get(element)
    if number is None:
        letter = "int" if element[0] == "i" else "uint"  # the bits of types that Python does not have
        number = getattr(ctypes, f"c_{letter}{8 * _types.SIZES[element]}")
    count = _library.number(count, 64, "the count")
    nbytes = _library.number(count * ctypes.sizeof(number), 64, "the size in bytes")
    handle = _Pinned(device, nbytes)
    if count == 0:
        return (number * 0)()
    array_type = type("PinnedArray", (number * count,), {})
    values = array_type.from_address(_library.library().kiln_pinned_data(handle._handle))
    values.pinned = handle  # frees the memory with the array
    return values


class Buffer(_library.Handle):
    """Device memory: `len(buffer)` values of type `buffer.element`, freed with the object."""

    def __init__(self, device, element, count, stream=None):
        _check_element(element)
        self.device, self.element, self._count = device, element, _library.number(count, 64, "the count")
        self.nbytes = _library.number(self._count * _types.SIZES[element], 64, "the size in bytes")
        super().__init__(_library.make("kiln_buffer_allocate_on", device._handle, ctypes.c_size_t(self.nbytes),
                                       stream._handle if stream is not None else None), "kiln_buffer_free")
        self.address = _library.library().kiln_buffer_data(self._handle) or 0

    def __len__(self):
        return self._count

    def __repr__(self):
        return f"<Buffer of {self._count} {self.element} on {self.device.id}>"

    def write(self, values, stream=None):
        """Copies from an array of the same number of bytes. With a Stream it returns at once. The
        stream keeps the array, which must not change until stream.synchronize(). A copy from
        pinned() memory runs in parallel with the program."""
        if isinstance(values, (list, tuple)):
            raise TypeError("write() takes an array, not a list: upload() makes a buffer of one")
        source, held = host_bytes(values)
        self._check(values, len(source))
        arguments = (ctypes.c_void_p(self.address), source, ctypes.c_size_t(self.nbytes))
        if stream is None:
            _library.call("kiln_copy_to_device", self.device._handle, *arguments)
        else:
            stream.give("kiln_copy_to_device_async", (self.device._handle, *arguments, stream.native), self, source, held)

    def fill(self, byte=0, stream=None):
        """Sets each byte, in the order of the stream. Returns at once."""
        byte = _library.number(byte, 8, "the byte")
        arguments = (self.device._handle, ctypes.c_void_p(self.address), ctypes.c_int(byte), ctypes.c_size_t(self.nbytes))
        if stream is None:
            _library.call("kiln_device_fill", *arguments, None)
        else:
            stream.give("kiln_device_fill", (*arguments, stream.native), self)

    def download(self, into=None, stream=None):
        """Returns the values after the work that was started before. They are copied to `into`, an
        array of the same number of bytes, or to a new array.array. The new array has floats for
        f16, bf16 and f8; for bool it is a bytearray of 0 and 1. With a Stream it returns at once,
        and `into` has the values after stream.synchronize()."""
        if stream is not None:
            if into is None:
                raise TypeError("download() on a stream wants an array to copy into")
            target, held = host_bytes(into, writable=True)
            self._check(into, len(target))
            stream.give("kiln_copy_to_host_async",
                        (self.device._handle, target, ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes),
                         stream.native), self, target, held)
            return into
        if into is None:
            is_narrow, is_bool = self.element in _types.NARROW, self.element == "bool"
            if is_narrow or is_bool:
                into = bytearray(self.nbytes)
            else:
                into = array.array(_types.LETTERS[self.element], bytes(self.nbytes))
            self.download(into)
            return _types.floats_of(self.element, into) if is_narrow else into
        target, _held = host_bytes(into, writable=True)
        self._check(into, len(target))
        _library.call("kiln_copy_to_host", self.device._handle, target, ctypes.c_void_p(self.address),
                      ctypes.c_size_t(self.nbytes))
        return into

    def __array__(self, dtype=None, copy=None):
        """Downloads the values for numpy.asarray(). bf16 and f8 become f32."""
        import numpy

        if copy is False:
            raise ValueError("the values lie on a device: an array of them is a copy")
        kind = self._numpy_type()
        if kind is None:
            values = numpy.array(self.download(), numpy.float32)
        else:
            values = self.download(numpy.empty(self._count, kind))
        return values if dtype is None else values.astype(dtype)

    def _numpy_type(self):
        """Returns the element type as the array interfaces write it, or None for floats that they
        do not have."""
        if self.element in ("f8", "bf16"):
            return None
        return "|b1" if self.element == "bool" else f"<{self.element[0]}{_types.SIZES[self.element]}"

    @property
    def __cuda_array_interface__(self):
        kind = self._numpy_type()
        if not self.device.id.startswith("cuda") or kind is None:
            raise AttributeError("__cuda_array_interface__")
        return {"shape": (self._count,), "typestr": kind, "data": (self.address, False), "version": 3}

    def _check(self, array, size):
        """Raises an error if the array does not fit the buffer. An array of bytes fits every
        buffer, and a buffer of u8 takes every array. The bits of narrow floats may be given as
        unsigned integers."""
        view = memoryview(array)
        found = _types.element_of_format(view.format, view.itemsize)
        is_bits = self.element in _types.NARROW and found == f"u{8 * _types.SIZES[self.element]}"
        if found not in (None, "u8", self.element) and self.element != "u8" and not is_bits:
            raise TypeError(f"the buffer holds {self.element}, the array {found}")
        if size != self.nbytes:
            raise ValueError(f"the buffer has {self.nbytes} bytes, the array {size}")


def _dim3(size, what):
    """Returns the three numbers of a grid or a block."""
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{what} has {len(sizes)} numbers, not 1 to 3")
    return tuple(_library.number(extent, 32, what) for extent in sizes) + (1,) * (3 - len(sizes))


def native_stream(stream, device):
    """Returns the driver's handle of a stream of the device. `stream` is a Stream, or the handle
    itself as a number, or None for the default stream, whose handle is 0."""
    if isinstance(stream, Stream):
        if stream.device.id != device.id:
            raise TypeError(f"the stream is of {stream.device.id}, the kernel runs on {device.id}")
        return stream.native.value or 0
    return 0 if stream is None else _library.number(getattr(stream, "value", stream) or 0, 64, "the stream")


def launch(device, function, grid, block, values, shared_bytes=0, stream=None):
    """Starts a kernel with ctypes values. `grid` and `block` are numbers or tuples of up to three
    numbers."""
    config = _library.LaunchConfig(_dim3(grid, "grid"), _dim3(block, "block"),
                                   _library.number(shared_bytes, 32, "shared_bytes"), native_stream(stream, device))
    addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    widths = (ctypes.c_size_t * len(values))(*[ctypes.sizeof(value) for value in values])
    _library.call("kiln_function_launch_sized", function, ctypes.byref(config), addresses, widths,
                  ctypes.c_size_t(len(values)))


_CTYPES_VALUE = ctypes._SimpleCData.__base__  # of numbers, structures, arrays and pointers


class Function(_library.Handle):
    """A kernel of an image that the caller supplied. Only the sizes of its parameters are known."""

    def __init__(self, device, handle):
        super().__init__(handle, "kiln_function_free")
        self.device = device

    def launch(self, grid, block, *arguments, shared_bytes=0, stream=None):
        """Starts the kernel. Each argument is a Buffer or a ctypes value of exactly the parameter's
        type."""
        values = [ctypes.c_void_p(a.address) if isinstance(a, Buffer) else a for a in arguments]
        for position, value in enumerate(values, 1):
            if not isinstance(value, _CTYPES_VALUE):
                raise TypeError(f"argument {position}: a buffer or a ctypes value is wanted, such as ctypes.c_int(1), "
                                f"not {type(value).__name__}")
        launch(self.device, self._handle, grid, block, values, shared_bytes, stream)
