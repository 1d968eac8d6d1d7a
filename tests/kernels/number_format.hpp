// The element types as the references see them: bits to values, values to bits, and neighbours.
//
// Written apart from kernels/ and ops/ on purpose, by another method: small floats are rounded by
// looking the value up among all values of the format, so that a slip in one place is not repeated
// here. Values are long double, which holds every value of every format exactly.
//
// Formats: IEEE 754-2019 binary16/32/64; bfloat16, the upper half of a binary32; OCP 8-bit Floating
// Point Specification 1.0, E4M3, converted to with saturation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ops/dtype.hpp"

namespace kiln::conformance {

using ops::DType;
using Real = long double;

// Elements are handled as bits, in the low size_of(dtype) bytes.
using Bits = std::uint64_t;

Bits load(DType dtype, const std::byte* element);
void store(DType dtype, Bits bits, std::byte* element);
// Elements one behind the other.
std::vector<std::byte> bytes_of(DType dtype, const std::vector<Bits>& values);

// The value of a float. NaN for a NaN.
Real decode(DType dtype, Bits bits);

// A value rounded once, to nearest even, to a float format. Beyond the largest value: infinity, or
// for f8 the largest value itself. Exact for any Real.
Bits encode(DType dtype, Real value);

bool is_nan(DType dtype, Bits bits);
bool has_signalling_nans(DType dtype);           // f8e4m3 has none
bool is_signalling_nan(DType dtype, Bits bits);  // its first mantissa bit is clear
bool is_negative(DType dtype, Bits bits);        // the sign bit

// The position of a float that is no NaN among the values of its format: 0 for both zeros, 1 for
// the least positive value, -1 for its negative, and so on, up to infinity where the format has it.
std::int64_t ordinal(DType dtype, Bits bits);
Bits from_ordinal(DType dtype, std::int64_t position);  // clamped to the largest
std::int64_t max_ordinal(DType dtype);                  // of infinity, or the largest value
Bits least_normal(DType dtype);                         // the least value that is not subnormal

// a + b rounded so that rounding once more, to 51 bits or fewer, gives the same as rounding the
// exact sum once (round to odd; Boldo and Melquiond 2008).
double add_to_odd(double a, double b);

// "0x3c00 (1)", for messages.
std::string show(DType dtype, Bits bits);

}  // namespace kiln::conformance
