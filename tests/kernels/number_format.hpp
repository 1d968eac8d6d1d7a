// The element types as the references define them: conversions between bits and values, and
// neighbours.
//
// Deliberately independent of kernels/ and ops/, with another method: small floats are rounded by
// looking the value up among all values of the format, so that a mistake in one place is not
// repeated here. Values are long double, which represents every value of every format exactly.
//
// Formats: IEEE 754-2019 binary16/32/64; bfloat16, which is the upper half of a binary32; E4M3 of
// the OCP 8-bit Floating Point Specification 1.0, with saturating conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ops/dtype.hpp"

namespace kiln::conformance {

using ops::DType;
using Real = long double;

// An element as bits, in the low size_of(dtype) bytes.
using Bits = std::uint64_t;

Bits load(DType dtype, const std::byte* element);
void store(DType dtype, Bits bits, std::byte* element);
// Returns the elements as contiguous bytes.
std::vector<std::byte> bytes_of(DType dtype, const std::vector<Bits>& values);

// Returns the value of a float; NaN for a NaN.
Real decode(DType dtype, Bits bits);

// Rounds a value once to a float format, to nearest even. A value beyond the largest one becomes
// infinity, or the largest value for f8. Exact for any Real.
Bits encode(DType dtype, Real value);

bool is_nan(DType dtype, Bits bits);
bool has_signalling_nans(DType dtype);           // f8e4m3 has none
bool is_signalling_nan(DType dtype, Bits bits);  // the first mantissa bit is clear
bool is_negative(DType dtype, Bits bits);        // the sign bit

// Returns the position of a float that is not NaN among the values of its format: 0 for both zeros,
// 1 for the smallest positive value, -1 for its negative, and so on, up to infinity if the format
// has it.
std::int64_t ordinal(DType dtype, Bits bits);
Bits from_ordinal(DType dtype, std::int64_t position);  // clamped to the largest position
std::int64_t max_ordinal(DType dtype);                  // of infinity, or the largest value
Bits min_normal(DType dtype);                           // the smallest positive normal value

// Returns a + b rounded to odd, so that rounding it again, to 51 bits or fewer, gives the same
// result as rounding the exact sum once (Boldo and Melquiond 2008).
double add_to_odd(double a, double b);

// Returns "0x3c00 (1)", for messages.
std::string show(DType dtype, Bits bits);

}  // namespace kiln::conformance
