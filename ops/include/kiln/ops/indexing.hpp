// indexing: reads and writes elements at ids along one dim.
//
// Kernels: is_<I>_<T>, gather_<I>_<T>, ia_<I>_<T>, sa_<I>_<T> for I of u8 u32 i64 and T of u8 u32
// i64 f16 bf16 f32 f64 f8_e4m3, and for I of i16 i32 and T of f8_e4m3. s_<I>_<T> for I of u8 u32
// i64 and the same T without f8_e4m3.
//
// An id selects nothing if it is negative, beyond the dim, or the greatest number of its type (255
// for u8). Reading at such an id gives 0, and writing at it does nothing. All operands are
// row-major contiguous, except the ids of IndexSelect. Elements of `out` that no id selects do not
// change.
//
// In the formulas, l stands for all dims before `dim`, and r for all dims after it.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// is_<I>_<T>: out[l, j, r] = inp[l, ids[j], r].
struct IndexSelect {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; `out` has the number of ids in `dim`
  std::size_t dim = 0;
  Layout ids_layout;
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// gather_<I>_<T>: out[l, j, r] = inp[l, ids[l, j, r], r].
struct Gather {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`
  std::size_t dim = 0;
  std::size_t count = 0;  // size of `ids` and `out` in `dim`; their other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// The order of additions, or of writes. kiln adds the kernels for orders other than kKept:
// ia_any_<I>_<T>, sa_any_<I>_<T> and ia_sorted_<I>_<T>, for u32 f16 bf16 f32 f64, and
// s_any_<I>_<T>, for all types of s_<I>_<T>.
enum class SumOrder : std::uint8_t {
  kKept,    // in the order of j, each sum rounded to T: the same bits in every run
  kAny,     // by atomics, each sum rounded to T: the fastest, but bits may differ between runs.
            // With ScatterOp::kAssign, any one of the elements for a place stays: the same bits in
            // every run if no two ids are equal
  kSorted,  // in the order of j, rounded once: the same bits in every run. Only for IndexAdd
};

// ia_<I>_<T>: out[l, ids[j], r] += inp[l, j, r].
struct IndexAdd {
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp`; the number of ids is its size in `dim`
  std::size_t dim = 0;
  std::size_t size = 0;  // size of `out` in `dim`; its other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
  SumOrder order = SumOrder::kKept;
  // For kSorted: u32, the positions of the ids sorted by id, as ArgSort gives them.
  const void* sorted = nullptr;
};

enum class ScatterOp : std::uint8_t {
  kAssign,  // s_<I>_<T>: the last element for a place stays, unless `order` is kAny
  kAdd,     // sa_<I>_<T>: each sum is rounded to T
};

// out[l, ids[l, j, r], r] = inp[l, j, r], or += for kAdd, in the order of j.
struct Scatter {
  ScatterOp op = ScatterOp::kAssign;
  DType ids_dtype = DType::kU32;
  DType dtype = DType::kF32;
  Extents dims;  // of `inp` and `ids`
  std::size_t dim = 0;
  std::size_t size = 0;  // size of `out` in `dim`; its other dims are those of `inp`
  const void* ids = nullptr;
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
  SumOrder order = SumOrder::kKept;
};

// Errors (kInvalidInput) name the shape, the dim, the dtypes or the order that no kernel takes.
Result<Launch> plan(const IndexSelect& call, const Gpu& gpu = {});
Result<Launch> plan(const Gather& call, const Gpu& gpu = {});
Result<Launch> plan(const IndexAdd& call, const Gpu& gpu = {});
Result<Launch> plan(const Scatter& call, const Gpu& gpu = {});

}  // namespace kiln::ops
