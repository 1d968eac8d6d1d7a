// reduce: combines all elements along some dims into one value.
//
// Kernels: fast_<op>_<T>, and split_<...>_<T> if several blocks share a row, for u8 u32 i64 f16
// bf16 f32 f64; sum_<T> for u32 f16 bf16 f32 f64. Integer sums wrap. min and max ignore a NaN in
// f64 and f32, and keep it in f16 and bf16. argmin and argmax give a u32, the smallest index of the
// extreme. They skip NaNs; if all elements are NaN, the index is 0.
#pragma once

#include <string_view>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/tables/reduce.hpp"

namespace kiln::ops {

enum class ReduceOp : std::uint8_t {
#define KILN_ROW(name, op, dtypes, output, split, order) k##op,
  KILN_EACH_REDUCTION(KILN_ROW)
#undef KILN_ROW
};

enum class ReduceOutput : std::uint8_t { kSame, kIndex };
enum class ReduceOrder : std::uint8_t { kGiven, kReversed };

struct ReduceOpInfo {
  ReduceOp op;
  std::string_view root;  // how the kernels' names begin: "fast_sum"
  ReduceOutput output;
  // How the names of the kernels with several blocks per row begin: `split` for rows of contiguous
  // elements ("split_sum"), `split_apart` for other rows ("split_apart_sum").
  std::string_view split, split_apart;
  ReduceOrder order;  // how these kernels compare elements
};

inline constexpr ReduceOpInfo kReduceOps[] = {
#define KILN_ROW(name, op, dtypes, output, split, order)            \
  {ReduceOp::k##op, "fast_" #name,         ReduceOutput::k##output, \
   "split_" #split, "split_apart_" #split, ReduceOrder::k##order},
    KILN_EACH_REDUCTION(KILN_ROW)
#undef KILN_ROW
};

// A number that is no operation gets the first one's entry. plan() refuses it.
constexpr const ReduceOpInfo& info(ReduceOp op) {
  const auto at = static_cast<std::size_t>(op);
  return kReduceOps[at < std::size(kReduceOps) ? at : 0];
}
constexpr bool gives_index(ReduceOp op) { return info(op).output == ReduceOutput::kIndex; }
constexpr DType output_dtype(ReduceOp op, DType dtype) {
  return gives_index(op) ? DType::kU32 : dtype;
}

struct Reduce {
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kF32;
  Layout layout;  // of `src`
  // Positions of the reduced dims, each once; exactly one for argmin and argmax. `dst` has the
  // other dims, in their order, row-major contiguous.
  Extents over;
  const void* src = nullptr;
  void* dst = nullptr;  // elements of output_dtype(op, dtype)
  Geometry geometry = Geometry::kOwn;
  // Number of blocks that share a row, by the kernels split_<...>_<T>, which kiln adds. 0: the plan
  // chooses, and may also give a block several rows. If it is not 0, in either geometry, the
  // elements of a result must be evenly spaced in memory, and so must the first elements of all
  // results. Parts are whole multiples of 128 elements, so there may be fewer. More than one part:
  // up to 16,384 results.
  std::uint32_t parts = 0;
};

// sum_<T>: adds the sums along `over` to the elements of `out`, which has the other dims, row-major
// contiguous. The additions are atomic, so their order may vary, and each rounds to T.
struct SumInto {
  DType dtype = DType::kF32;
  Layout layout;  // of `inp`
  Extents over;   // as for Reduce
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape, the dims or the dtype that no kernel takes. None takes a
// shape without elements.
Result<Launch> plan(const Reduce& call, const Gpu& gpu = {});
Result<Launch> plan(const SumInto& call, const Gpu& gpu = {});

}  // namespace kiln::ops
