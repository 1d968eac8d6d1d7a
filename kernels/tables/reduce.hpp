// Module reduce. A row: name, functor (functors/reduction.cuh), element types (tables/dtypes.hpp);
// the output's type, `Same` as the elements' or `Index`, a u32; and for rows that several blocks
// share, the row below to use and its order. Kernels are fast_<name>_<type>. Launch helpers call
// the operation kFunctor.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_VALUE_REDUCTION(row)         \
  row(sum, Sum, NUMBERS, Same, sum, Given)     \
  row(max, Max, NUMBERS, Same, extreme, Given) \
  row(min, Min, NUMBERS, Same, extreme, Reversed)
#define KILN_EACH_INDEX_REDUCTION(row)                   \
  row(argmax, ArgMax, NUMBERS, Index, argextreme, Given) \
  row(argmin, ArgMin, NUMBERS, Index, argextreme, Reversed)
#define KILN_EACH_REDUCTION(row) KILN_EACH_VALUE_REDUCTION(row) KILN_EACH_INDEX_REDUCTION(row)

// kiln's own kernels for reductions of rows by several blocks each: split_<name>_<type> if a row's
// elements are neighbours, split_apart_<name>_<type> otherwise. EitherOrder takes elements in the
// given order, or reversed if a parameter says so: the least is then the greatest.
#define KILN_EACH_SPLIT_REDUCTION(row)          \
  row(sum, Sum, NUMBERS, Same, InOrder)         \
  row(extreme, Max, NUMBERS, Same, EitherOrder) \
  row(argextreme, ArgMax, NUMBERS, Index, EitherOrder)

// Operations on rows. A row: root of the kernels' names, element types.
#define KILN_EACH_SOFTMAX(row, kernel) row(softmax, PLAIN_FLOATS, kernel)
#define KILN_EACH_SOFTMAX_LONG(row, kernel) row(softmax_long, PLAIN_FLOATS, kernel)
#define KILN_EACH_SOFTMAX_STAGED(row, kernel) row(softmax_staged, SINGLE_FLOATS, kernel)
#define KILN_EACH_RMSNORM(row, kernel) row(rmsnorm, PLAIN_FLOATS, kernel)
#define KILN_EACH_LAYERNORM(row, kernel) row(layernorm, PLAIN_FLOATS, kernel)
#define KILN_EACH_NORM_LONG(row, kernel) row(norm_long, PLAIN_FLOATS, kernel)
#define KILN_EACH_ROPE_NEIGHBOURS(row, kernel) row(rope_i, PLAIN_FLOATS, kernel)
#define KILN_EACH_ROPE_HALVES(row, kernel) row(rope, PLAIN_FLOATS, kernel)
#define KILN_EACH_ROPE_TOKENS_FIRST(row, kernel) row(rope_thd, PLAIN_FLOATS, kernel)

// Sums that are added to what the output holds.
#define KILN_EACH_SUM(row, kernel) row(sum, SUMMED, kernel)
