// Module indexing: elements found by ids along a dim. A row: root of the kernels' names, type of
// the ids, types of the elements (dtypes.hpp), and the caller's further arguments.
#pragma once

#include "dtypes.hpp"

#define KILN_F8_ALONE(row, ...) row(f8_e4m3, f8_e4m3, __VA_ARGS__)

#define KILN_EACH_INDEXED(row, root, ...) \
  row(root, u8, STORED, __VA_ARGS__)      \
  row(root, u32, STORED, __VA_ARGS__)     \
  row(root, i64, STORED, __VA_ARGS__)     \
  row(root, i16, F8_ALONE, __VA_ARGS__)   \
  row(root, i32, F8_ALONE, __VA_ARGS__)

#define KILN_EACH_INDEX_SELECT(row, ...) KILN_EACH_INDEXED(row, is, __VA_ARGS__)
#define KILN_EACH_GATHER(row, ...) KILN_EACH_INDEXED(row, gather, __VA_ARGS__)
#define KILN_EACH_INDEX_ADD(row, ...) KILN_EACH_INDEXED(row, ia, __VA_ARGS__)
#define KILN_EACH_SCATTER_ADD(row, ...) KILN_EACH_INDEXED(row, sa, __VA_ARGS__)
#define KILN_EACH_SCATTER(row, ...)   \
  row(s, u8, NUMBERS, __VA_ARGS__)    \
  row(s, u32, NUMBERS, __VA_ARGS__)   \
  row(s, i64, NUMBERS, __VA_ARGS__)
