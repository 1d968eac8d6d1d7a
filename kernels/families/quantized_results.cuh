// Shared by the products that kiln adds to the original's: results in a type that the launch
// chooses, and two matrices whose products are joined as silu(first) * second.
#pragma once

#include "device/chunk.cuh"
#include "device/dtypes.cuh"
#include "device/platform.cuh"
#include "tuning/fused_products.hpp"

namespace kiln::families {

using namespace device;

// Returns x / (1 + exp(-x)), computed with a divisor of at most 2.
KILN_DEVICE f32 silu(f32 x) {
  const f32 e = math::exp(-math::abs(x));
  return (x < 0 ? x * e : x) * reciprocal_approximate(1 + e);
}

// The rows of one matrix, or of two in turn: row 2 * n is row n of the first, and row 2 * n + 1 is
// row n of the second.
struct PairRows {
  const u8* first;
  const u8* second;  // null if there is only one
  u32 row_bytes;

  // `before`: number of rows to skip in each matrix.
  KILN_DEVICE PairRows(const void* a, const void* b, u32 bytes_of_row, u64 before = 0)
      : first(static_cast<const u8*>(a) + before * bytes_of_row),
        second(b == nullptr ? nullptr : static_cast<const u8*>(b) + before * bytes_of_row),
        row_bytes(bytes_of_row) {}

  KILN_DEVICE bool is_pair() const { return second != nullptr; }
  // Returns the number of rows of all matrices, which have `rows` rows each.
  KILN_DEVICE u32 count(i32 rows) const { return static_cast<u32>(rows) << (is_pair() ? 1 : 0); }
  KILN_DEVICE const u8* row(u32 number) const {
    const u32 shift = is_pair() ? 1 : 0;
    const u8* const matrix = (number & shift) != 0 ? second : first;
    return matrix + static_cast<u64>(number >> shift) * row_bytes;
  }
};

// Stores results of one matrix or a pair at dst[v * stride + row].
struct FloatResults {
  void* dst;
  u32 stride;
  u32 type;  // tuning::FloatType
  bool is_pair;

  KILN_DEVICE void put(u64 at, f32 value) const {
    if (type == tuning::kFloatF32) {
      static_cast<f32*>(dst)[at] = value;
    } else {
      static_cast<u16*>(dst)[at] =
          type == tuning::kFloatF16 ? narrow<f16>(value).bits : narrow<bf16>(value).bits;
    }
  }
  // Stores value(0) to value(3) from index `at` on, at an address aligned to four elements.
  template <class Value>
  KILN_DEVICE void put_four(u64 at, Value value) const {
    if (type == tuning::kFloatF32) {
      Chunk<f32, 4> four;
      four.set(value);
      four.store(static_cast<f32*>(dst) + at);
    } else if (type == tuning::kFloatF16) {
      Chunk<f16, 4> four;
      four.set(value);
      four.store(static_cast<u16*>(dst) + at);
    } else {
      Chunk<bf16, 4> four;
      four.set(value);
      four.store(static_cast<u16*>(dst) + at);
    }
  }
  // sum(0) is the sum of row `row`, and sum(1) the sum of the next row.
  template <class Sum>
  KILN_DEVICE void operator()(u32 row, u32 v, Sum sum) const {
    const u64 before = static_cast<u64>(v) * stride;
    if (!is_pair) {
      put(before + row, sum(0));
    } else if (row % 2 == 0) {
      put(before + row / 2, silu(sum(0)) * sum(1));
    }
  }
};

}  // namespace kiln::families
