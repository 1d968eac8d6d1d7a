// unary: out[i] = op(inp[idx(i)]).
//
// Kernels: <root>_<T>, for the operations and element types of tables/unary.hpp. docs/KERNELS.md
// says what each operation computes, and how exactly.
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
  std::string_view root;  // how the kernels' names begin
  bool has_parameter;     // elu: the slope; power: the exponent
};

inline constexpr UnaryOpInfo kUnaryOps[] = {
#define KILN_ROW(root, op, dtypes, cost, scalars) {UnaryOp::k##op, #root, scalars != 0},
    KILN_EACH_UNARY(KILN_ROW)
#undef KILN_ROW
};

// A number that is no operation gets the first one's entry. plan() refuses it.
constexpr const UnaryOpInfo& info(UnaryOp op) {
  const auto at = static_cast<std::size_t>(op);
  return kUnaryOps[at < std::size(kUnaryOps) ? at : 0];
}

// When the copy of a view that is a transpose or a slice uses transpose_<T> or slice_<T> (fill.hpp)
// instead of ucopy_<T>. Only with Geometry::kOwn. kBySize: when they are faster.
enum class Rearranged : std::uint8_t { kBySize, kNever, kAlways };

struct Unary {
  UnaryOp op = UnaryOp::kCopy;
  DType dtype = DType::kF32;
  Layout layout;              // of `inp`; `out` has the same dims, row-major contiguous
  const void* inp = nullptr;  // null: `out`, in place, for which the layout must be contiguous
  void* out = nullptr;
  Scalar parameter;  // of type `dtype`; only read if the operation has a parameter
  Geometry geometry = Geometry::kOwn;
  Rearranged rearranged = Rearranged::kBySize;  // only for UnaryOp::kCopy
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Unary& call, const Gpu& gpu = {});

}  // namespace kiln::ops
