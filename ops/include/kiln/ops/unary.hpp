// unary: out[i] = op(inp[idx(i)]).
//
// Kernels: <root>_<T>, for the operations and element types of tables/unary.hpp. What each
// computes, and how exactly: docs/KERNELS.md.
#pragma once

#include <string_view>

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"
#include "kiln/ops/tables/unary.hpp"

namespace kiln::ops {

enum class UnaryOp : std::uint8_t {
#define KILN_ROW(root, op, dtypes, cost, scalars) k##op,
  KILN_EACH_UNARY(KILN_ROW)
#undef KILN_ROW
};

struct UnaryOpInfo {
  UnaryOp op;
  std::string_view root;  // of the kernels' names
  bool has_parameter;     // elu: the slope; power: the exponent
};

inline constexpr UnaryOpInfo kUnaryOps[] = {
#define KILN_ROW(root, op, dtypes, cost, scalars) {UnaryOp::k##op, #root, scalars != 0},
    KILN_EACH_UNARY(KILN_ROW)
#undef KILN_ROW
};

constexpr const UnaryOpInfo& info(UnaryOp op) { return kUnaryOps[static_cast<std::size_t>(op)]; }

// Whether copies of views that are a transpose or a slice go by transpose_<T> or slice_<T> (fill.hpp), which
// then are faster than ucopy_<T>. In our geometry alone.
enum class Rearranged : std::uint8_t { kBySize, kNever, kAlways };

struct Unary {
  UnaryOp op = UnaryOp::kCopy;
  DType dtype = DType::kF32;
  Layout layout;              // of `inp`; `out` is row-major contiguous
  const void* inp = nullptr;  // null: in place, reads `out`
  void* out = nullptr;
  Scalar parameter;  // of `dtype`; read where the operation has one
  Geometry geometry = Geometry::kOwn;
  Rearranged rearranged = Rearranged::kBySize;  // of the copy
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Unary& call, const Gpu& gpu = {});

}  // namespace kiln::ops
