#include "expected.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::conformance {
namespace {

// Returns a value by its position. Infinity counts as the value that would follow the largest one.
Real value_at(DType dtype, std::int64_t position) {
  const std::int64_t last = max_ordinal(dtype);
  const Real value = decode(dtype, from_ordinal(dtype, position));
  if (std::isfinite(value) || position == 0) return value;
  const Real largest = decode(dtype, from_ordinal(dtype, last - 1));
  return std::copysign(largest + unit_in_last_place(dtype, largest), value);
}

// Returns the last position from `from` in `direction` (-1 or +1) whose value does not pass
// `limit`.
std::int64_t last_within(DType dtype, Real limit, std::int64_t from, int direction) {
  std::int64_t position = ordinal(dtype, encode(dtype, limit));
  const auto passes = [&](std::int64_t at) {
    return direction < 0 ? value_at(dtype, at) < limit : value_at(dtype, at) > limit;
  };
  if (passes(position)) position -= direction;
  return direction < 0 ? std::min(position, from) : std::max(position, from);
}

}  // namespace

Real unit_in_last_place(DType dtype, Real value) {
  const Real least = decode(dtype, 1);
  const Real normal = decode(dtype, min_normal(dtype));
  if (std::isnan(value) || std::fabs(value) < normal) return least;
  // Beyond the largest value, and at infinity, the unit is that of the largest value.
  const Real largest = decode(dtype, from_ordinal(dtype, max_ordinal(dtype) - 1));
  const int exponent = std::ilogb(std::min(std::fabs(value), largest));
  return std::ldexp(least, exponent - std::ilogb(normal));
}

Expected Expected::within(DType dtype, Real exact, const Bound& bound, ZeroSign zero_sign) {
  Expected expected;
  expected.is_range_ = true;
  expected.bits_ = encode(dtype, exact);
  if (std::isnan(exact)) {
    expected.nan_ = Nan::kRequired;
    return expected;
  }
  expected.first_ = expected.last_ = ordinal(dtype, expected.bits_);
  expected.zero_sign_matters_ = zero_sign == ZeroSign::kAsExpected && exact == 0;
  const DType compute = compute_dtype(dtype);
  const bool rounded_once = bound.ulps <= 0.5L && bound.relative == 0 && bound.absolute == 0;
  if (std::isinf(exact) || (rounded_once && (dtype == compute || bound.ulps == 0))) return expected;

  const Real error = (bound.ulps == 0 ? 0 : bound.ulps * unit_in_last_place(compute, exact)) +
                     bound.relative * std::fabs(exact) + bound.absolute;
  const Real low = exact - error, high = exact + error;
  if (dtype == compute) {
    expected.first_ = last_within(dtype, low, expected.first_, -1);
    expected.last_ = last_within(dtype, high, expected.last_, +1);
  } else {
    expected.first_ = ordinal(dtype, encode(dtype, low));
    expected.last_ = ordinal(dtype, encode(dtype, high));
  }
  return expected;
}

std::string Expected::describe(DType dtype) const {
  if (is_anything_) return "anything";
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

std::vector<Expected> unchanged(DType dtype, const std::vector<std::byte>& content) {
  std::vector<Expected> expected;
  for (std::size_t at = 0; at < content.size(); at += size_of(dtype)) {
    expected.push_back(Expected::exactly(load(dtype, content.data() + at)));
  }
  return expected;
}

}  // namespace kiln::conformance
