// Module indexing, kiln's own kernels: writes and sums in any order, and sums by sorted ids. A row
// is that of KILN_EACH_INDEXED (indexing.hpp).
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_OWN_INDEXED(row, root, dtypes, ...) \
  row(root, u8, dtypes, __VA_ARGS__)                  \
  row(root, u32, dtypes, __VA_ARGS__)                 \
  row(root, i64, dtypes, __VA_ARGS__)

#define KILN_EACH_INDEX_ADD_ANY(row, ...) KILN_EACH_OWN_INDEXED(row, ia_any, SUMMED, __VA_ARGS__)
#define KILN_EACH_SCATTER_ADD_ANY(row, ...) KILN_EACH_OWN_INDEXED(row, sa_any, SUMMED, __VA_ARGS__)
#define KILN_EACH_SCATTER_ANY(row, ...) KILN_EACH_OWN_INDEXED(row, s_any, NUMBERS, __VA_ARGS__)
#define KILN_EACH_INDEX_ADD_SORTED(row, ...) \
  KILN_EACH_OWN_INDEXED(row, ia_sorted, SUMMED, __VA_ARGS__)
