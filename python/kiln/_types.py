"""The types of kernel parameters, as docs/MANIFEST.md writes them, and conversions of Python's
values."""

import array
import ctypes
import math
import struct

INTEGERS = {
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
}
FLOATS = {"f32": ctypes.c_float, "f64": ctypes.c_double}
SIZES = {"bool": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
         "f8": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
# Names that other libraries use.
OTHER_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float": "f32", "float64": "f64", "double": "f64",
               "half": "f16", "int": "i32", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
               "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
# The letters of `struct` and of the buffer protocol for each element type.
LETTERS = {"bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i",
           "i64": "q", "f16": "e", "f32": "f", "f64": "d"}


def element_of_format(letters, size):
    """Returns the element type of a format of the buffer protocol, such as "f32" for "<f", or
    None."""
    letter = letters[-1:]
    if len(letters) > 2 or letters[:-1] not in ("", "@", "=", "<"):
        return None
    if letter == "?":
        return "bool"
    if letter in "efd":
        return {2: "f16", 4: "f32", 8: "f64"}.get(size)
    kind = "u" if letter in "BHILQN" else "i" if letter in "bhilqn" else None
    return kind and f"{kind}{8 * size}"


def element_of_typestr(typestr):
    """Returns the element type of a typestr of an array interface, such as "f32" for "<f4", or
    None."""
    if typestr[:1] not in "<|":
        return None
    kind = {"f": "f", "i": "i", "u": "u", "b": "bool"}.get(typestr[1:2])
    size = typestr[2:]
    if kind is None or not size.isdigit():
        return None
    return kind if kind == "bool" else f"{kind}{8 * int(size)}"


def to_f16(value):
    return ctypes.c_uint16(struct.unpack("<H", struct.pack("<e", value))[0])


def to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if math.isnan(value):
        return ctypes.c_uint16(bits >> 16 | 0x40)
    return ctypes.c_uint16(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


def to_f8(value):
    """Converts to OCP E4M3, rounded to nearest even. Values that are too large become the largest,
    448."""
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    value = abs(value)
    if math.isnan(value):
        return ctypes.c_uint8(sign | 0x7F)
    if value >= 448:
        return ctypes.c_uint8(sign | 0x7E)
    exponent = max(math.frexp(value)[1] - 1, -6) if value else -6
    steps = round(math.ldexp(value, 3 - exponent))  # in units of the last place
    return ctypes.c_uint8(sign | (steps + 8 * (exponent + 6)))


def _from_f8(bits):
    exponent, steps = bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return math.nan
    value = math.ldexp(steps + 8, exponent - 10) if exponent else math.ldexp(steps, -9)
    return -value if bits & 0x80 else value


_F8 = [_from_f8(bits) for bits in range(256)]


def floats_of(element, data):
    """Returns an array of floats with the values of `data`, the bytes of f16, bf16 or f8 values. An
    array.array cannot hold those types."""
    if element == "f8":
        return array.array("f", [_F8[bits] for bits in data])
    if element == "f16":
        return array.array("f", struct.unpack(f"<{len(data) // 2}e", data))
    wide = bytearray(2 * len(data))  # bf16 is the upper half of a float
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return array.array("f", bytes(wide))


NARROW = {"f16": to_f16, "bf16": to_bf16, "f8": to_f8}


def _is_bool(given):
    return isinstance(given, bool) or type(given).__name__ in ("bool_", "bool")  # numpy's bool types


def value_of(element, given):
    """Returns a number as the ctypes value of an element type. The messages of its TypeError and
    OverflowError do not name the argument."""
    exact = INTEGERS.get(element) or FLOATS.get(element)
    if isinstance(given, ctypes._SimpleCData):
        if exact is not None and isinstance(given, exact):
            return given
        raise TypeError(f"{element} is wanted, not {type(given).__name__}")
    if element == "bool":
        if _is_bool(given):
            return ctypes.c_uint8(bool(given))
        raise TypeError(f"a bool is wanted, not {type(given).__name__}")
    if element in INTEGERS:
        if _is_bool(given) or not hasattr(given, "__index__"):
            raise TypeError(f"an integer is wanted, not {type(given).__name__}")
        number = given.__index__()
        converted = exact(number)
        if converted.value != number:
            raise OverflowError(f"{number} does not fit {element}")
        return converted
    if _is_bool(given) or isinstance(given, (str, bytes)) or not (hasattr(given, "__float__") or hasattr(given, "__index__")):
        raise TypeError(f"a number is wanted, not {type(given).__name__}")
    number = float(given)
    try:
        converted = exact(number) if exact else NARROW[element](number)
    except (OverflowError, struct.error):
        raise OverflowError(f"{number} does not fit {element}") from None
    if element == "f32" and math.isinf(converted.value) and not math.isinf(number):
        raise OverflowError(f"{number} does not fit {element}")
    return converted
