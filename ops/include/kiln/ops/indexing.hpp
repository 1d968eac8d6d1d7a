// indexing: elements read, and places written, by ids along one dim.
//
// Kernels: is_<I>_<T>, gather_<I>_<T>, ia_<I>_<T>, sa_<I>_<T> for I of u8 u32 i64 and T of u8 u32
// i64 f16 bf16 f32 f64 f8_e4m3, and for I of i16 i32 and T of f8_e4m3; s_<I>_<T> for I of u8 u32
// i64 and T of all of these but f8_e4m3.
//
// The greatest id of a type names no place (255 of u8), and neither does one that is negative or
// beyond the dim: where it reads, the result is 0; where it writes, nothing is written. All
// operands are row-major contiguous, but for the ids of IndexSelect.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// out[l, j, r] = inp[l, ids[j], r], for l over the dims before `dim` and r over those behind it.
struct IndexSelect {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; `out` has as many elements in `dim` as there are ids
  std::size_t dim = 0;
  Layout ids_layout;
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// out[l, j, r] = inp[l, ids[l, j, r], r].
struct Gather {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`
  std::size_t dim = 0;
  std::size_t count = 0;  // of `ids` and `out` in `dim`; their other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// In which order sums are taken. Names of our own, for u32 f16 bf16 f32 f64: ia_any_<I>_<T>,
// sa_any_<I>_<T>, ia_sorted_<I>_<T>.
enum class SumOrder : std::uint8_t {
  kKept,    // that of j, each sum rounded to T: the same bits each run
  kAny,     // atomically, each sum rounded to T: the fastest, and its bits may differ
  kSorted,  // IndexAdd alone: that of j, rounded once: the same bits each run
};

// out[l, ids[j], r] += inp[l, j, r].
struct IndexAdd {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; there are as many ids as it has elements in `dim`
  std::size_t dim = 0;
  std::size_t size = 0;  // of `out` in `dim`; its other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
  SumOrder order = SumOrder::kKept;
  // For kSorted: u32, the numbers of the ids sorted by id, as ArgSort gives them.
  const void* sorted = nullptr;
};

enum class ScatterOp : std::uint8_t {
  kAssign,  // s: the last one stays
  kAdd,     // sa: each sum is rounded to T
};

// out[l, ids[l, j, r], r] = inp[l, j, r], or += that, in the order of j.
struct Scatter {
  ScatterOp op = ScatterOp::kAssign;
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp` and `ids`
  std::size_t dim = 0;
  std::size_t size = 0;  // of `out` in `dim`; its other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
  SumOrder order = SumOrder::kKept;  // of kAdd
};

// Errors (kInvalidInput) name the shape, the dim or the dtype that no kernel takes.
Result<Launch> plan(const IndexSelect& call, const Gpu& gpu = {});
Result<Launch> plan(const Gather& call, const Gpu& gpu = {});
Result<Launch> plan(const IndexAdd& call, const Gpu& gpu = {});
Result<Launch> plan(const Scatter& call, const Gpu& gpu = {});

}  // namespace kiln::ops
