// Module binary: out[i] = lhs[i] op rhs[i]. A row: root of the kernels' names, functor
// (functors/binary.cuh), element types (tables/dtypes.hpp), and the output's type: `Same` as the
// operands', or `Truth`, a byte that is 0 or 1. Launch helpers call the operation kFunctor. Each
// group is one source of the module: kernels/binary_<group>.cu.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_BINARY_SUM(row) \
  row(badd, Add, STORED, Same)    \
  row(bsub, Subtract, STORED, Same)

#define KILN_EACH_BINARY_PRODUCT(row) row(bmul, Multiply, STORED, Same)
#define KILN_EACH_BINARY_QUOTIENT(row) row(bdiv, Divide, STORED, Same)

#define KILN_EACH_BINARY_EXTREME(row)             \
  row(bmaximum, Maximum, STORED_BUT_HALVES, Same) \
  row(bminimum, Minimum, STORED_BUT_HALVES, Same)

// The same operations, for types that follow another rule for NaN.
#define KILN_EACH_BINARY_VARIANT(row)         \
  row(bmaximum, MaximumKeepNan, HALVES, Same) \
  row(bminimum, MinimumKeepNan, HALVES, Same)

#define KILN_EACH_BINARY_EQUAL(row) \
  row(eq, Equal, STORED, Truth)     \
  row(ne, NotEqual, STORED, Truth)

#define KILN_EACH_BINARY_LESS(row) \
  row(lt, Less, STORED, Truth)     \
  row(le, LessOrEqual, STORED, Truth)

#define KILN_EACH_BINARY_GREATER(row) \
  row(gt, Greater, STORED, Truth)     \
  row(ge, GreaterOrEqual, STORED, Truth)

#define KILN_EACH_BINARY(row)    \
  KILN_EACH_BINARY_SUM(row)      \
  KILN_EACH_BINARY_PRODUCT(row)  \
  KILN_EACH_BINARY_QUOTIENT(row) \
  KILN_EACH_BINARY_EXTREME(row)  \
  KILN_EACH_BINARY_EQUAL(row)    \
  KILN_EACH_BINARY_LESS(row)     \
  KILN_EACH_BINARY_GREATER(row)
