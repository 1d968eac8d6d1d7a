// reduce: one value for all elements along some dims.
//
// Kernels: fast_<op>_<T>, and split_<...>_<T> where blocks share a row, for u8 u32 i64 f16 bf16 f32
// f64; sum_<T> for u32 f16 bf16 f32 f64. Integer sums wrap. min and max: f64 and f32 ignore NaN,
// f16 and bf16 keep it. argmin and argmax give a u32: the smallest index of the extreme; a NaN is
// skipped, and of nothing but NaNs the index is 0.
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
  std::string_view root;  // of the kernels' names: "fast_sum"
  ReduceOutput output;
  // Of the kernels by which blocks share a row: "split_sum", "split_apart_sum"; and how these take
  // elements.
  std::string_view split, split_apart;
  ReduceOrder order;
};

inline constexpr ReduceOpInfo kReduceOps[] = {
#define KILN_ROW(name, op, dtypes, output, split, order)            \
  {ReduceOp::k##op, "fast_" #name,         ReduceOutput::k##output, \
   "split_" #split, "split_apart_" #split, ReduceOrder::k##order},
    KILN_EACH_REDUCTION(KILN_ROW)
#undef KILN_ROW
};

constexpr const ReduceOpInfo& info(ReduceOp op) { return kReduceOps[static_cast<std::size_t>(op)]; }
constexpr bool gives_index(ReduceOp op) { return info(op).output == ReduceOutput::kIndex; }
constexpr DType output_dtype(ReduceOp op, DType dtype) {
  return gives_index(op) ? DType::kU32 : dtype;
}

struct Reduce {
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kF32;
  Layout layout;  // of `src`
  // Positions of the dims that are reduced, each once; an index is of exactly one. `dst` holds the
  // other dims, in their order, row-major contiguous.
  Extents over;
  const void* src = nullptr;
  void* dst = nullptr;  // of output_dtype(op, dtype)
  Geometry geometry = Geometry::kOwn;
  // Blocks that share a row, by the kernels split_<...>_<T>, names of our own; 0: as serves speed.
  // Where it is set the elements of a result must be evenly apart, and so must the results' first
  // ones.
  std::uint32_t parts = 0;
};

// sum_<T>: adds the sums along `over` to what `out` holds, element by element with atomics: the
// order is not kept, and each addition rounds to T.
struct SumInto {
  DType dtype = DType::kF32;
  Layout layout;  // of `inp`
  Extents over;   // as in Reduce
  const void* inp = nullptr;
  void* out = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape, the dims or the dtype that no kernel takes.
Result<Launch> plan(const Reduce& call, const Gpu& gpu = {});
Result<Launch> plan(const SumInto& call, const Gpu& gpu = {});

}  // namespace kiln::ops
