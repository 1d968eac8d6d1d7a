"""Converts the arguments of a kernel to the values that the driver expects."""

import ctypes

from . import _library, _types
from ._device import Buffer, host_bytes, native_stream

# The device types of DLPack: memory of the CPU; for each backend, memory of one GPU; and for each
# backend, memory that every GPU of the machine can read.
_DL_CPU, _DL_OF_ONE, _DL_OF_ALL = 1, {"cuda": 2, "hip": 10}, {"cuda": (3, 13), "hip": (11,)}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _is_contiguous(shape, strides, item):
    """True if the array is contiguous. `strides` has the same unit as `item`, or is None."""
    expected = item
    for size, stride in reversed(list(zip(shape, strides or ()))):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


# Examples for error messages: arguments for a value of so many bytes.
_EXAMPLES = {1: "ctypes.c_uint8(1)", 2: "ctypes.c_int16(1)", 4: "ctypes.c_float(1) or ctypes.c_int(1)",
             8: "ctypes.c_double(1) or ctypes.c_int64(1)"}


class Arguments:
    """The arguments of one launch. Host arrays are copied to the device, and copied back if the
    kernel may have written to them."""

    def __init__(self, device, stream=None):
        self.device = device
        self._stream = native_stream(stream, device)
        self.values = []
        self._copies_back = []  # pairs of a buffer and the host array to copy it to
        self._keep_alive = []

    def add(self, parameter, argument):
        try:
            self.values.append(self._convert(parameter, argument))
        except (TypeError, OverflowError) as error:
            raise type(error)(f"argument {parameter.position + 1} ({parameter}): {error}") from None

    def finish(self, stream):
        """Copies the arrays that the kernel may have written to back to the host. Waits for the
        kernel."""
        if self._copies_back and stream:
            self.device.synchronize()
        for buffer, target in self._copies_back:
            buffer.download(target)

    def _convert(self, parameter, argument):
        if parameter.is_pointer:
            return ctypes.c_void_p(self._address(parameter, argument))
        if parameter.element:
            return _types.value_of(parameter.element, argument)
        may_be_pointer = parameter.size == 8 and not parameter.is_value
        raw = None
        if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)):
            raw = argument
        elif isinstance(argument, (bytes, bytearray)):
            raw = (ctypes.c_char * len(argument)).from_buffer_copy(argument)
        elif isinstance(argument, ctypes.Array) and not may_be_pointer:
            raw = argument
        if raw is None and may_be_pointer and not isinstance(argument, (int, float)):
            return ctypes.c_void_p(self._address(parameter, argument))
        if isinstance(raw, (ctypes.Structure, ctypes.Union)) and ctypes.sizeof(raw) != parameter.size:
            raise TypeError(f"{type(argument).__name__} has {ctypes.sizeof(argument)} bytes, the parameter has {parameter.size}: lay "
                            "the ctypes.Structure out as the kernel's own")
        if raw is None and parameter.is_value and not isinstance(argument, (int, float)):
            raise TypeError(f"it is passed by value: a ctypes.Structure, or bytes, of {parameter.size} bytes are wanted, no address")
        if raw is None or ctypes.sizeof(raw) != parameter.size:
            message = (f"a ctypes value or bytes of {parameter.size} bytes are wanted, such as "
                      f"{_EXAMPLES.get(parameter.size, 'a ctypes.Structure')}")
            if not parameter.type:
                message += ("; or let kiln know the types, by a kernel without extern \"C\" or an abi file of the "
                           "manifest")
            raise TypeError(message)
        return raw

    def _address(self, parameter, argument):
        if argument is None:
            return 0
        if isinstance(argument, Buffer):
            self._check_element(parameter, argument.element)
            if argument.device.id != self.device.id:
                raise TypeError(f"the buffer lies on {argument.device.id}, the kernel runs on {self.device.id}")
            return argument.address
        if isinstance(argument, ctypes.c_void_p):
            return argument.value or 0
        interface = getattr(argument, "__cuda_array_interface__", None)
        if interface is not None:
            return self._array_interface(parameter, argument, interface)
        if isinstance(argument, (list, tuple)):
            if parameter.element in (None, "void") or not parameter.is_const:
                raise TypeError("a list can be passed for a pointer to constant numbers alone: upload it")
            buffer = self.device.upload(argument, parameter.element)
            self._keep_alive.append(buffer)
            return buffer.address
        try:
            view = memoryview(argument)
        except TypeError:
            view = None
        if view is not None:
            element = _types.element_of_format(view.format, view.itemsize)
            # An array of bytes may hold elements of any packed format.
            if not (view.format in ("B", "c") and parameter.element not in _types.LETTERS):
                self._check_element(parameter, element or f"format {view.format!r}")
            return self._copy_to_device(parameter, argument)
        if hasattr(argument, "__dlpack__"):
            return self._dlpack(parameter, argument)
        raise TypeError(f"a buffer or an array is wanted, not {type(argument).__name__}")

    def _is_accessible(self, kind, ordinal):
        """True if kernels of the device can read memory with this device type and number of
        DLPack."""
        backend, _, own_ordinal = self.device.id.partition(":")
        if kind in _DL_OF_ALL.get(backend, ()):
            return True
        return kind == _DL_OF_ONE.get(backend) and ordinal == int(own_ordinal or 0)

    def _array_interface(self, parameter, argument, interface):
        if not self.device.id.startswith(("cuda", "hip")):
            raise TypeError(f"the array lies on a GPU, the kernel runs on {self.device.id}")
        # The interface does not name the GPU, but most arrays that have it also have DLPack's.
        if hasattr(argument, "__dlpack_device__") and not self._is_accessible(*argument.__dlpack_device__()):
            raise TypeError(f"the array lies on another device than {self.device.id}")
        self._check_element(parameter, _types.element_of_typestr(interface["typestr"]) or interface["typestr"])
        address, readonly = interface["data"]
        item = int(interface["typestr"][2:])
        if not _is_contiguous(interface["shape"], interface.get("strides"), item):
            raise TypeError("the array is not contiguous")
        if readonly and not parameter.is_const:
            raise TypeError("the array cannot be written to")
        # The stream on which work on the array may still run. 1 is the default stream.
        producer_stream = interface.get("stream")
        if producer_stream is not None and (0 if producer_stream == 1 else producer_stream) != self._stream:
            self.device.synchronize()
        return address or 0

    def _dlpack(self, parameter, argument):
        capsule = argument.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
        self._keep_alive.append((capsule, argument))
        kind = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool"}.get(tensor.code, "?")
        self._check_element(parameter, kind if kind == "bool" else f"{kind}{tensor.bits}")
        shape = [tensor.shape[i] for i in range(tensor.ndim)]
        strides = [tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides else None
        if tensor.lanes != 1 or not _is_contiguous(shape, strides, 1):
            raise TypeError("the array is not contiguous")
        address = (tensor.data or 0) + tensor.byte_offset
        if self._is_accessible(tensor.device_type, tensor.device_id):
            return address
        if tensor.device_type != _DL_CPU:
            raise TypeError(f"the array lies on another device than {self.device.id}")
        count = 1
        for size in shape:
            count *= size
        return self._copy_to_device(parameter, (ctypes.c_uint8 * (count * tensor.bits // 8)).from_address(address))

    def _copy_to_device(self, parameter, argument):
        _, view = host_bytes(argument, writable=not parameter.is_const and parameter.is_pointer)
        buffer = self.device.allocate("u8", view.nbytes)
        if view.nbytes:
            buffer.write(argument)
        self._keep_alive.append(buffer)
        if not parameter.is_const and view.nbytes:
            self._copies_back.append((buffer, argument))
        return buffer.address

    @staticmethod
    def _check_element(parameter, element):
        if parameter.element in (None, "void") or element == parameter.element:
            return
        raise TypeError(f"an array of {parameter.element} is wanted, not of {element}")
