"""Calls libkiln_runtime, the interface of <kiln/kiln.h>, through ctypes. Errors become
exceptions."""

import ctypes
import operator
import os
import pathlib
import shutil

from ._place import runtime_libraries


class Error(Exception):
    """An error of the runtime. str(error) is its full text: what failed and where, what was
    expected and what to do next. `code` is one of kiln.h's codes, such as Error.NO_IMAGE, or None
    for errors outside the runtime."""

    INVALID_INPUT, BUILD_FAILED, UNAVAILABLE, ENVIRONMENT, NOT_FOUND, NO_IMAGE, DRIVER, INTERRUPTED, INTERNAL = range(1, 10)

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class DeviceInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("id", "name", "target", "driver")] + [
        ("wave_width", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("max_threads_per_block", ctypes.c_uint32),
        ("max_shared_bytes", ctypes.c_uint32),
        ("memory_bytes", ctypes.c_uint64),
    ]


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
    ]


class ParameterInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_uint32),
        ("is_pointer", ctypes.c_uint32),
        ("is_value", ctypes.c_uint32),
    ]


def _prefixes():
    """Yields the prefixes where kiln may be installed: the one that contains this file, the one
    that this wheel was built in, and the one on PATH."""
    here = pathlib.Path(__file__).resolve().parents
    if len(here) > 4:
        yield here[4]  # this file is PREFIX/share/kiln/python/kiln/_library.py
    try:
        from ._prefix import PREFIX  # written by build_backend/kiln_backend.py
    except ImportError:
        pass
    else:
        yield pathlib.Path(PREFIX)
    program = shutil.which("kiln")
    if program:
        yield pathlib.Path(program).resolve().parents[1]


def _open():
    named = os.environ.get("KILN_RUNTIME_LIBRARY")
    if named:
        return ctypes.CDLL(named)
    looked = list(_prefixes())
    for prefix in looked:
        for path in runtime_libraries(prefix):
            return ctypes.CDLL(str(path))
    try:
        return ctypes.CDLL("libkiln_runtime.so")
    except OSError as error:
        looked = ", ".join(str(prefix) for prefix in looked)
        raise Error(
            f"cannot open libkiln_runtime.so: {error}\nnote: there is none under {looked} either\n"
            "hint: install kiln, and put PREFIX/bin on PATH; or let KILN_RUNTIME_LIBRARY name the library"
        ) from None


# The version of the library that this package needs: kiln_version() without the patch number.
RELEASE = (0, 1)


def _check_version(opened):
    version = opened.kiln_version() if hasattr(opened, "kiln_version") else 0
    found = (version // 10000, version // 100 % 100)
    if found == RELEASE:
        return
    raise Error(f"{opened._name} is of kiln {found[0]}.{found[1]}, this package of kiln {RELEASE[0]}.{RELEASE[1]}\n"
                "hint: take both from one release: the package is PREFIX/share/kiln/python")


_opened = None


def library():
    """Returns the library. The first call opens it."""
    global _opened
    if _opened is None:
        opened = _open()
        _check_version(opened)
        for name in ("kiln_error_get_text", "kiln_catalog_name", "kiln_catalog_digest",
                     "kiln_catalog_module_name", "kiln_catalog_kernel_name", "kiln_runtime_device_id"):
            getattr(opened, name).restype = ctypes.c_char_p
        for name in ("kiln_catalog_module_count", "kiln_catalog_find_kernel", "kiln_catalog_kernel_readable_name", "kiln_catalog_kernel_count",
                     "kiln_catalog_parameter_count",
                     "kiln_runtime_device_count"):
            getattr(opened, name).restype = ctypes.c_size_t
        for name in ("kiln_buffer_data", "kiln_pinned_data", "kiln_stream_native"):
            getattr(opened, name).restype = ctypes.c_void_p
        _opened = opened
    return _opened


def call(function, *arguments):
    """Calls a function of kiln.h that returns an error."""
    opened = library()
    target = getattr(opened, function)
    target.restype = ctypes.c_void_p
    error = target(*arguments)
    if error:
        error = ctypes.c_void_p(error)
        text = opened.kiln_error_get_text(error).decode(errors="replace")
        code = opened.kiln_error_get_code(error)
        opened.kiln_error_free(error)
        raise Error(text, code)


def make(function, *arguments):
    """Calls a function of kiln.h that stores a new handle in its last argument, and returns the
    handle."""
    made = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(made))
    return made


def number(value, bits, what):
    """Returns `value` as an integer of so many bits, or raises an error. ctypes would silently drop
    the higher bits."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}, not a whole number") from None
    if not 0 <= value < 1 << bits:
        raise OverflowError(f"{what} is {value}, which does not fit a number of {bits} bits")
    return value


def text(value, what):
    """Returns a text encoded for the library. Raises an error if it contains a NUL, which would end
    it."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what} holds a NUL: {value!r}")
    return value.encode()


class Handle:
    """Owns a handle of the library and frees it with the object."""

    def __init__(self, handle, free):
        self._handle, self._free = handle, free

    def __reduce_ex__(self, _protocol):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: both would free what it holds")

    def __del__(self):
        free = getattr(self, "_free", None)
        if free is not None and _opened is not None:
            getattr(_opened, free)(self._handle)
