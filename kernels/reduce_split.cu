// reduce: reductions of rows by several blocks each.
#include "device/export.cuh"
#include "families/split_reduce.cuh"
#include "functors/reduction.cuh"
#include "tables/reduce.hpp"

#define OUT_Same(type) kiln::type
#define OUT_Index(type) kiln::u32
// name(rows, per_row, row_stride, stride, parts, each, reversed, src, dst, workspace)
#define SPLIT(suffix, type, root, op, output, order, lie, blocks)                                 \
  KILN_BOUNDED_KERNEL(256, blocks(sizeof(kiln::type)), root##_##suffix, kiln::u64 rows,           \
                      kiln::u64 per_row, kiln::u64 row_stride, kiln::u64 stride, kiln::u32 parts, \
                      kiln::u32 each, kiln::u32 reversed, const kiln::type* src,                  \
                      OUT_##output(type) * dst, kiln::u8 * workspace) {                           \
    kiln::families::split_reduce<kiln::functors::op<kiln::type>, kiln::families::Elements::lie>(  \
        rows, per_row, row_stride, stride, parts, each,                                           \
        kiln::families::order<kiln::type>(reversed != 0), src, dst, workspace);                   \
  }
#define BLOCKS(bytes) kiln::tuning::kSplitBlocks
#define BLOCKS_APART(bytes) kiln::tuning::split_apart_blocks(bytes)
#define EACH_SPLIT(name, op, dtypes, output, order)                          \
  KILN_##dtypes(SPLIT, split_##name, op, output, order, kSideBySide, BLOCKS) \
      KILN_##dtypes(SPLIT, split_apart_##name, op, output, order, kApart, BLOCKS_APART)

KILN_EACH_SPLIT_REDUCTION(EACH_SPLIT)
