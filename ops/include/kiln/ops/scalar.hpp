// A scalar argument, as a kernel takes it: the bytes of one element.
#pragma once

#include <array>
#include <cstdint>

#include "kiln/ops/dtype.hpp"

namespace kiln::ops {

// One element of a dtype. Zero unless set.
struct Scalar {
  DType dtype = DType::kF32;
  std::uint64_t bits = 0;  // the low size_of(dtype) bytes

  // `value` converted as the reference host does it: integers truncate toward zero and saturate,
  // floats round to nearest even, f8 goes through f32 and saturates to its largest finite value.
  static Scalar from(DType dtype, double value);
  static Scalar of_bits(DType dtype, std::uint64_t bits) { return {dtype, bits}; }
  // As a double, exactly but for i64 beyond 2^53.
  double value() const;
};

}  // namespace kiln::ops
