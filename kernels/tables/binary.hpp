// Module binary: out[i] = lhs[i] op rhs[i]. A row: root of the kernels' names, functor
// (functors/binary.cuh), element types (tables/dtypes.hpp), and the output's type: `Same` as the
// operands', or `Truth`, a byte that is 0 or 1. Launch helpers call the operation kFunctor.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_BINARY(row)                         \
  row(badd, Add, STORED, Same)                        \
  row(bsub, Subtract, STORED, Same)                   \
  row(bmul, Multiply, STORED, Same)                   \
  row(bdiv, Divide, STORED, Same)                     \
  row(bmaximum, Maximum, STORED_BUT_HALVES, Same)     \
  row(bminimum, Minimum, STORED_BUT_HALVES, Same)     \
  row(eq, Equal, STORED, Truth)                       \
  row(ne, NotEqual, STORED, Truth)                    \
  row(lt, Less, STORED, Truth)                        \
  row(le, LessOrEqual, STORED, Truth)                 \
  row(gt, Greater, STORED, Truth)                     \
  row(ge, GreaterOrEqual, STORED, Truth)

// The same operations for types that obey another rule.
#define KILN_EACH_BINARY_VARIANT(row)         \
  row(bmaximum, MaximumKeepNan, HALVES, Same) \
  row(bminimum, MinimumKeepNan, HALVES, Same)
