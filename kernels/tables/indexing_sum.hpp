// Module indexing, kiln's own kernels: writes and sums in any order, and sums by sorted ids. A row is
// that of KILN_EACH_INDEXED (indexing.hpp).
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_OWN_SUM(row, root, ...) \
  row(root, u8, SUMMED, __VA_ARGS__)      \
  row(root, u32, SUMMED, __VA_ARGS__)     \
  row(root, i64, SUMMED, __VA_ARGS__)

#define KILN_EACH_INDEX_ADD_ANY(row, ...) KILN_EACH_OWN_SUM(row, ia_any, __VA_ARGS__)
#define KILN_EACH_SCATTER_ADD_ANY(row, ...) KILN_EACH_OWN_SUM(row, sa_any, __VA_ARGS__)
#define KILN_EACH_SCATTER_ANY(row, ...)                                      \
  row(s_any, u8, NUMBERS, __VA_ARGS__) row(s_any, u32, NUMBERS, __VA_ARGS__) \
      row(s_any, i64, NUMBERS, __VA_ARGS__)
#define KILN_EACH_INDEX_ADD_SORTED(row, ...) KILN_EACH_OWN_SUM(row, ia_sorted, __VA_ARGS__)
