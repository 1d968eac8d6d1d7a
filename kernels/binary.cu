// binary: out[i] = lhs[i] op rhs[i].
#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "functors/apply.cuh"
#include "functors/binary.cuh"
#include "tables/binary.hpp"

#define OUT_Same(type) kiln::type
#define OUT_Truth(type) kiln::u8
#define KERNEL(suffix, type, root, op, output)                                            \
  KILN_ELEMENTWISE(root##_##suffix, Brief, Rows,                                          \
                   (kiln::functors::apply<kiln::functors::op, kiln::type>()), (lhs, rhs), \
                   const kiln::type* lhs, const kiln::type* rhs, OUT_##output(type) * out)
#define ROW(root, op, dtypes, output) KILN_##dtypes(KERNEL, root, op, output)

KILN_EACH_BINARY(ROW)
KILN_EACH_BINARY_VARIANT(ROW)
