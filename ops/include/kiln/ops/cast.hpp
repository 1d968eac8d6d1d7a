// cast: out[i] = To(inp[idx(i)]).
//
// Kernels: cast_<From>_<To>, for the pairs of tables/cast.hpp. Integers to integers keep the low
// bits. Integers to floats, and floats to narrower floats, round once, to nearest even. Floats to
// integers truncate toward zero, and a NaN gives 0; u32, i32 and i64 saturate, and u8 keeps the low
// 8 bits of the result for u32 (300 gives 44, -1 gives 0). A cast to f8 goes through f32 and
// saturates.
//
// For large views and the casts that networks use, kiln adds the kernels cast_tiles_<From>_<To>.
// They compute the same.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/tables/cast.hpp"

namespace kiln::ops {

// A pair of types that has a kernel.
struct CastRow {
  DType from, to;
};
inline constexpr CastRow kCasts[] = {
#define KILN_ROW(from, to) {dtypes::from, dtypes::to},
    KILN_EACH_CAST(KILN_ROW)
#undef KILN_ROW
};
constexpr bool has_cast(DType from, DType to) {
  for (const CastRow& row : kCasts) {
    if (row.from == from && row.to == to) return true;
  }
  return false;
}

struct Cast {
  DType from = DType::kF32, to = DType::kF32;
  Layout layout;  // of `inp`; `out` has the same dims, row-major contiguous
  const void* inp = nullptr;
  void* out = nullptr;  // may be `inp` if its layout is contiguous and both types have one size
  Geometry geometry = Geometry::kOwn;
  Tiles tiles = Tiles::kBySize;
};

// Errors (kInvalidInput) name the shape, or the pair of types that no kernel casts.
Result<Launch> plan(const Cast& call, const Gpu& gpu = {});

}  // namespace kiln::ops
