// What an output element may hold, and how wide "may" is.
//
// An operation's contract has two parts. Its *hull* is every value that a correct evaluation may
// round to: the exact result, and the results with intermediates rounded to the types that the
// operation may compute in. Its *bound* is how far from the hull an implementation may end: so many
// units in the last place of the compute type (f64 for f64, else f32), rounded to the element type,
// then so many steps of the element type. Both are stated by the family, beside the operation.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "number_format.hpp"

namespace kiln::conformance {

struct Bound {
  int f64_ulps = 0;      // for f64 elements
  int f32_ulps = 0;      // for f32 elements, and before the rounding to f16, bf16 and f8
  int narrow_steps = 0;  // for f16, bf16 and f8 elements, after the rounding
};

enum class ZeroSign : std::uint8_t { kAny, kAsExpected };

// What one element may hold.
class Expected {
 public:
  // These bits and no others. `what` says so in messages: "untouched".
  static Expected exactly(Bits bits) {
    Expected expected;
    expected.bits_ = bits;
    return expected;
  }

  // A float within `bound` of the hull of `values`, each widened by the absolute error `slack`.
  // NaN where every value is NaN; NaN or a number where some are.
  static Expected within(DType dtype, std::initializer_list<Real> values, Bound bound,
                         Real slack = 0, ZeroSign zero_sign = ZeroSign::kAny);

  bool admits(DType dtype, Bits actual) const {
    if (!is_range_) return actual == bits_;
    if (is_nan(dtype, actual)) return nan_ != Nan::kWrong;
    if (nan_ == Nan::kRequired) return false;
    const std::int64_t position = ordinal(dtype, actual);
    if (position < first_ || position > last_) return false;
    return position != 0 || !zero_sign_matters_ ||
           is_negative(dtype, actual) == is_negative(dtype, bits_);
  }

  // A value that is right: the middle of what is admitted.
  Bits example() const { return bits_; }

  // "0x3c00 (1)", "0x3bff (0.99951172) to 0x3c01 (1.0009766)", "NaN".
  std::string describe(DType dtype) const;

 private:
  enum class Nan : std::uint8_t { kWrong, kAllowed, kRequired };

  Bits bits_ = 0;                      // exact, or an example
  std::int64_t first_ = 0, last_ = 0;  // ordinals admitted, both included
  bool is_range_ = false;
  bool zero_sign_matters_ = false;
  Nan nan_ = Nan::kWrong;
};

}  // namespace kiln::conformance
