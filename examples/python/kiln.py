"""As much of libkiln_runtime.so as a program needs, through ctypes. Standard library alone."""

import ctypes
import os


class Error(Exception):
    """The runtime's own words: what failed, on which device, and what to do."""


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("id", "name", "target", "driver")] + [
        ("wave_width", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("max_threads_per_block", ctypes.c_uint32),
        ("max_shared_bytes", ctypes.c_uint32),
        ("memory_bytes", ctypes.c_uint64),
    ]


class _LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
    ]


class Device:
    """The default device, or one that is named: "cuda:0", "host". Everything that it gives out keeps it open."""

    def __init__(self, name=None, library=None):
        self._library = ctypes.CDLL(library or os.environ.get("KILN_RUNTIME_LIBRARY", "libkiln_runtime.so"))
        self._library.kiln_buffer_data.restype = ctypes.c_void_p
        self._library.kiln_error_get_text.restype = ctypes.c_char_p
        runtime = self._make("kiln_runtime_open", name.encode() if name else None)
        self._handle = self._make("kiln_device_open", runtime, None)
        self._library.kiln_runtime_free(runtime)
        info = _Info()
        self._library.kiln_device_get_info(self._handle, ctypes.byref(info))
        self.id, self.name, self.target = info.id.decode(), info.name.decode(), info.target.decode()

    def upload(self, array):
        """A buffer that holds a ctypes array."""
        buffer = Buffer(self, ctypes.sizeof(array))
        self._call("kiln_copy_to_device", self._handle, buffer.address, array, ctypes.c_size_t(buffer.size))
        return buffer

    def download(self, buffer, array):
        """Fills a ctypes array from a buffer. Waits for the work before it."""
        self._call("kiln_copy_to_host", self._handle, array, buffer.address, ctypes.c_size_t(buffer.size))

    def load(self, image, kernel):
        """A kernel of an image: the bytes of a cubin, PTX, code object, bundle or host image."""
        size = ctypes.c_size_t(len(image))
        return Kernel(self, self._make("kiln_function_load", self._handle, kernel.encode(), image, size))

    def __del__(self):
        if hasattr(self, "_handle"):
            self._library.kiln_device_free(self._handle)

    def _call(self, function, *arguments):
        call = getattr(self._library, function)
        call.restype = ctypes.c_void_p
        error = call(*arguments)
        if error:
            error = ctypes.c_void_p(error)
            text = self._library.kiln_error_get_text(error).decode()
            self._library.kiln_error_free(error)
            raise Error(text)

    def _make(self, function, *arguments):
        made = ctypes.c_void_p()
        self._call(function, *arguments, ctypes.byref(made))
        return made


class Buffer:
    def __init__(self, device, size):
        self.device, self.size = device, size
        self._handle = device._make("kiln_buffer_allocate", device._handle, ctypes.c_size_t(size))
        self.address = ctypes.c_void_p(device._library.kiln_buffer_data(self._handle))

    def __del__(self):
        if hasattr(self, "_handle"):
            self.device._library.kiln_buffer_free(self._handle)


class Kernel:
    def __init__(self, device, handle):
        self.device, self._handle = device, handle

    def launch(self, grid, block, *arguments):
        """Starts the kernel. Arguments are buffers or ctypes values of the parameters' exact sizes."""
        values = [a.address if isinstance(a, Buffer) else a for a in arguments]
        addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        config = _LaunchConfig((grid, 1, 1), (block, 1, 1), 0, None)
        self.device._call("kiln_function_launch", self._handle, ctypes.byref(config), addresses,
                          ctypes.c_size_t(len(values)))

    def __del__(self):
        self.device._library.kiln_function_free(self._handle)
