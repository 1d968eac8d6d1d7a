// The permitted values of an output element, and their distance from the exact result.
//
// A result is right if it lies within a *bound* of the exact one. The bound is an error in the type
// that the operation computes in (f64 for f64, otherwise f32). It has three parts: a number of
// units in the last place of the exact result, a relative error, and an absolute error. A narrower
// output is the computed value rounded once, so it may be off by half a step of the output type
// plus this error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "number_format.hpp"

namespace kiln::conformance {

// Returns the type that an operation on floats of `dtype` computes in.
constexpr DType compute_dtype(DType dtype) {
  return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}
// Returns the distance between neighbouring values of `dtype` around `value`, also for subnormal
// values.
Real unit_in_last_place(DType dtype, Real value);

struct Bound {
  Real ulps = 0;      // in the computing type; up to 0.5: correctly rounded. 0: exact
  Real relative = 0;  // part of the exact result
  Real absolute = 0;
};

enum class ZeroSign : std::uint8_t { kAny, kAsExpected };

// The permitted values of one element.
class Expected {
 public:
  // Exactly these bits.
  static Expected exactly(Bits bits) {
    Expected expected;
    expected.bits_ = bits;
    return expected;
  }

  // A float within `bound` of `exact`, or NaN if `exact` is NaN.
  static Expected within(DType dtype, Real exact, const Bound& bound = {},
                         ZeroSign zero_sign = ZeroSign::kAny);

  // Any value, for an element that the operation does not define.
  static Expected anything() {
    Expected expected;
    expected.is_anything_ = true;
    return expected;
  }

  // The same values, or NaN.
  Expected or_nan() const {
    Expected expected = *this;
    expected.nan_ = expected.nan_ == Nan::kRequired ? Nan::kRequired : Nan::kAllowed;
    return expected;
  }

  bool admits(DType dtype, Bits actual) const {
    if (!is_range_) return actual == bits_ || is_anything_;
    if (is_nan(dtype, actual)) return nan_ != Nan::kWrong;
    if (nan_ == Nan::kRequired) return false;
    const std::int64_t position = ordinal(dtype, actual);
    if (position < first_ || position > last_) return false;
    return position != 0 || !zero_sign_matters_ ||
           is_negative(dtype, actual) == is_negative(dtype, bits_);
  }

  // Returns a right value: the exact result, rounded.
  Bits example() const { return bits_; }

  // "0x3c00 (1)", "0x3bff (0.99951172) to 0x3c01 (1.0009766)", "NaN".
  std::string describe(DType dtype) const;

 private:
  enum class Nan : std::uint8_t { kWrong, kAllowed, kRequired };

  Bits bits_ = 0;                      // exact, or an example
  std::int64_t first_ = 0, last_ = 0;  // permitted ordinals, both ends included
  bool is_range_ = false;
  bool is_anything_ = false;
  bool zero_sign_matters_ = false;
  Nan nan_ = Nan::kWrong;
};

// Expects elements that do not change.
std::vector<Expected> unchanged(DType dtype, const std::vector<std::byte>& content);

}  // namespace kiln::conformance
