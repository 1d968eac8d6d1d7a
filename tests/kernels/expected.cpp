#include "expected.hpp"

#include <algorithm>
#include <cmath>

namespace kiln::conformance {
namespace {

// `value` moved by `ulps` places of `compute`, as a value again.
Real moved(DType compute, Real value, int ulps) {
  const Bits rounded = encode(compute, value);
  return ulps == 0 ? decode(compute, rounded)
                   : decode(compute, from_ordinal(compute, ordinal(compute, rounded) + ulps));
}

// The ordinal that ends the admitted range on the side of `direction` (-1 or +1).
std::int64_t end_of(DType dtype, Real value, const Bound& bound, int direction) {
  if (dtype == DType::kF64)
    return ordinal(dtype, encode(dtype, value)) + direction * bound.f64_ulps;
  if (dtype == DType::kF32)
    return ordinal(dtype, encode(dtype, value)) + direction * bound.f32_ulps;
  // With no error allowed in f32 the value is rounded once; a detour through f32 would round twice.
  const Real computed =
      bound.f32_ulps == 0 ? value : moved(DType::kF32, value, direction * bound.f32_ulps);
  return ordinal(dtype, encode(dtype, computed)) + direction * bound.narrow_steps;
}

}  // namespace

Expected Expected::within(DType dtype, std::initializer_list<Real> values, Bound bound, Real slack,
                          ZeroSign zero_sign) {
  Expected expected;
  expected.is_range_ = true;
  Real low = 0, high = 0, first = 0;
  std::size_t numbers = 0;
  for (const Real value : values) {
    if (std::isnan(value)) continue;
    if (numbers++ == 0) {
      low = high = first = value;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (numbers < values.size()) expected.nan_ = numbers == 0 ? Nan::kRequired : Nan::kAllowed;
  if (numbers == 0) {
    expected.bits_ = encode(dtype, *values.begin());
    return expected;
  }
  expected.bits_ = encode(dtype, first);
  expected.first_ = end_of(dtype, low - slack, bound, -1);
  expected.last_ = end_of(dtype, high + slack, bound, +1);
  expected.zero_sign_matters_ = zero_sign == ZeroSign::kAsExpected && low == 0 && high == 0;
  return expected;
}

std::string Expected::describe(DType dtype) const {
  if (!is_range_) return show(dtype, bits_);
  if (nan_ == Nan::kRequired) return "NaN";
  const Bits first = from_ordinal(dtype, first_), last = from_ordinal(dtype, last_);
  std::string text = show(dtype, zero_sign_matters_ && first == last ? bits_ : first);
  if (first != last) {
    text += " to " + show(dtype, last);
    if (zero_sign_matters_) text += is_negative(dtype, bits_) ? ", 0 as -0" : ", 0 as +0";
  }
  if (nan_ == Nan::kAllowed) text += " or NaN";
  return text;
}

}  // namespace kiln::conformance
