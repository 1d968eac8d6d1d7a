// A scalar argument as a kernel takes it: the bytes of one element.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kiln/ops/dtype.hpp"

namespace kiln::ops {

// One element of a dtype. Zero by default.
struct Scalar {
  DType dtype = DType::kF32;
  std::uint64_t bits = 0;  // the low size_of(dtype) bytes

  // Converts `value` as candle's host code does: integers truncate toward zero and saturate, floats
  // round to nearest even, and f8 goes through f32 and saturates to its largest finite value.
  static Scalar from(DType dtype, double value);
  static Scalar of_bits(DType dtype, std::uint64_t bits) { return {dtype, bits}; }
  // Returns the bytes as a `T`, which must have the dtype's size.
  template <typename T>
  T as() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof bits);
    T element;
    std::memcpy(&element, &bits, sizeof element);  // little-endian hosts
    return element;
  }
  // Returns the value as a double: exact, except for an i64 beyond 2^53.
  double value() const;
};

}  // namespace kiln::ops
