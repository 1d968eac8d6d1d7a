// cast: out[i] = To(inp[idx(i)]).
//
// Kernels: cast_<From>_<To>, for the pairs of kCasts. Integers keep their low bits; integers to
// floats and floats to narrower floats round once, to nearest even. Floats to integers truncate
// toward zero, NaN gives 0: u32, i32 and i64 saturate; u8 keeps the low 8 bits of what u32 would be
// (300 gives 44, -1 gives 0). To f8 through f32, saturated.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// From which type to which there are kernels.
struct CastRow {
  DType from;
  std::uint16_t to;  // a bit for each dtype, in the order of DType

  constexpr bool has(DType dtype) const { return (to >> static_cast<unsigned>(dtype) & 1) != 0; }
};
template <typename... DTypes>
constexpr CastRow cast_row(DType from, DTypes... to) {
  return {from, static_cast<std::uint16_t>(((1u << static_cast<unsigned>(to)) | ...))};
}
inline constexpr CastRow kCasts[] = {
    cast_row(DType::kU8, DType::kU8, DType::kU32, DType::kI64, DType::kF16, DType::kBF16,
             DType::kF32, DType::kF64, DType::kF8E4M3),
    cast_row(DType::kU32, DType::kU8, DType::kU32, DType::kI64, DType::kF16, DType::kBF16,
             DType::kF32, DType::kF64),
    cast_row(DType::kI32, DType::kF8E4M3),
    cast_row(DType::kI64, DType::kU8, DType::kU32, DType::kI64, DType::kF32, DType::kF64),
    cast_row(DType::kF16, DType::kU8, DType::kU32, DType::kF16, DType::kBF16, DType::kF32,
             DType::kF64, DType::kF8E4M3),
    cast_row(DType::kBF16, DType::kU8, DType::kU32, DType::kF16, DType::kBF16, DType::kF32,
             DType::kF64, DType::kF8E4M3),
    cast_row(DType::kF32, DType::kU8, DType::kU32, DType::kI64, DType::kF16, DType::kBF16,
             DType::kF32, DType::kF64, DType::kF8E4M3),
    cast_row(DType::kF64, DType::kU8, DType::kU32, DType::kI64, DType::kF16, DType::kBF16,
             DType::kF32, DType::kF64, DType::kF8E4M3),
    cast_row(DType::kF8E4M3, DType::kU8, DType::kI32, DType::kF16, DType::kBF16, DType::kF32,
             DType::kF64, DType::kF8E4M3),
};
constexpr bool has_cast(DType from, DType to) {
  for (const CastRow& row : kCasts) {
    if (row.from == from) return row.has(to);
  }
  return false;
}

struct Cast {
  DType from = DType::kF32, to = DType::kF32;
  Layout layout;  // of `inp`; `out` is row-major contiguous
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape, or the types between which no kernel casts.
Result<Launch> plan(const Cast& call, const Gpu& gpu = {});

}  // namespace kiln::ops
