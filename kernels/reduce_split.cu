// reduce: reductions of rows, and softmax, by several blocks each.
#include "device/export.cuh"
#include "families/softmax_long.cuh"
#include "families/split_reduce.cuh"
#include "functors/reduction.cuh"
#include "tables/reduce.hpp"

#define OUT_Same(type) kiln::type
#define OUT_Index(type) kiln::u32
// name(rows, per_row, row_stride, stride, parts, each, src, dst, workspace)
#define SPLIT(suffix, type, root, op, output)                                                  \
  KILN_BOUNDED_KERNEL(256, 3, root##_##suffix, kiln::u64 rows, kiln::u64 per_row,              \
                      kiln::u64 row_stride, kiln::u64 stride, kiln::u32 parts, kiln::u32 each, \
                      const kiln::type* src, OUT_##output(type) * dst, kiln::u8 * workspace) { \
    kiln::families::split_reduce<kiln::functors::op<kiln::type>>(                              \
        rows, per_row, row_stride, stride, parts, each, src, dst, workspace);                  \
  }
#define ROW(name, op, dtypes, output) KILN_##dtypes(SPLIT, split_##name, op, output)

KILN_EACH_REDUCTION(ROW)

// name(src, dst, workspace, columns, parts, each, step)
#define SOFTMAX_LONG(suffix, type, root)                                                       \
  KILN_BOUNDED_KERNEL(256, 3, root##_##suffix, const kiln::type* src, kiln::type* dst,         \
                      kiln::u8* workspace, kiln::u32 columns, kiln::u32 parts, kiln::u32 each, \
                      kiln::u32 step) {                                                        \
    kiln::families::softmax_long(src, dst, workspace, columns, parts, each, step);             \
  }
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_SOFTMAX_LONG(EACH_ROW_OPERATION, SOFTMAX_LONG)
