// Sorting along the last dim of row-major contiguous rows, for u8 u32 i64 f16 bf16 f32 f64.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// In the order of the rows of tables/sort.hpp.
enum class SortOrder : std::uint8_t { kAscending, kDescending };

// asort_{asc,desc}_<T>: dst[r, :] = the columns of row r in the order of their elements. The sort
// is stable; both zeros are equal. NaN comes last in either order.
struct ArgSort {
  SortOrder order = SortOrder::kAscending;
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* x = nullptr;  // (rows, columns)
  void* dst = nullptr;      // u32, (rows, columns)
  Geometry geometry = Geometry::kOwn;
  // With kOwn: number of parts that a row is cut into. A block works on each part, in several
  // launches. 0: the plan chooses, and may also choose one block per row.
  std::uint32_t parts = 0;
};

// sort_{asc,desc}_<T>, which kiln adds: writes the elements in that order, unchanged bit by bit.
struct Sort {
  SortOrder order = SortOrder::kAscending;
  DType dtype = DType::kF32;
  std::size_t rows = 0, columns = 0;
  const void* x = nullptr;
  void* dst = nullptr;      // (rows, columns); must not be `x`
  std::uint32_t parts = 0;  // as for ArgSort
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes. With the reference
// geometry, a row may not have more columns than its shared memory holds.
Result<Launch> plan(const ArgSort& call, const Gpu& gpu = {});
Result<Launch> plan(const Sort& call, const Gpu& gpu = {});

}  // namespace kiln::ops
