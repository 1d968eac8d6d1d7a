// Sorting along the last dim of contiguous rows, for u8 u32 i64 f16 bf16 f32 f64.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// The order is that of the table's rows.
enum class SortOrder : std::uint8_t { kAscending, kDescending };

// asort_{asc,desc}_<T>: dst[r, :] = the columns of row r in the order of their elements. Equal
// elements, which both zeros are, keep the order of their columns; NaN comes last in either order.
struct ArgSort {
  SortOrder order = SortOrder::kAscending;
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* x = nullptr;
  void* dst = nullptr;  // u32
  Geometry geometry = Geometry::kOwn;
  // Of kOwn: parts that a row is cut into, each a block's, in several launches; 0 leaves it to the
  // plan, which may also choose one block a row.
  std::uint32_t parts = 0;
};

// sort_{asc,desc}_<T>, names of our own: the elements themselves in that order, bit by bit.
struct Sort {
  SortOrder order = SortOrder::kAscending;
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* x = nullptr;
  void* dst = nullptr;      // not `x`
  std::uint32_t parts = 0;  // as above
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes, and more columns than
// the reference's shared memory holds.
Result<Launch> plan(const ArgSort& call, const Gpu& gpu = {});
Result<Launch> plan(const Sort& call, const Gpu& gpu = {});

}  // namespace kiln::ops
