// Module reduce, names of our own: reductions of rows by several blocks each. A row is that of
// KILN_EACH_REDUCTION (reduce.hpp), in the same order.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_SPLIT_REDUCTION(row)      \
  row(split_sum, Sum, NUMBERS, Same)        \
  row(split_max, Max, NUMBERS, Same)        \
  row(split_min, Min, NUMBERS, Same)        \
  row(split_argmax, ArgMax, NUMBERS, Index) \
  row(split_argmin, ArgMin, NUMBERS, Index)
