// reduce: softmax of rows. A block, several blocks, or a thread has a row.
#include "device/export.cuh"
#include "families/softmax.cuh"
#include "families/softmax_long.cuh"
#include "families/softmax_staged.cuh"
#include "tables/reduce.hpp"

#define SOFTMAX(suffix, type, root)                                                     \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, const kiln::type* src, kiln::type* dst, \
                      kiln::i32 n_cols) {                                               \
    kiln::families::softmax(src, dst, n_cols);                                          \
  }
// name(src, dst, workspace, columns, parts, each, step)
#define SOFTMAX_LONG(suffix, type, root)                                                       \
  KILN_BOUNDED_KERNEL(256, 3, root##_##suffix, const kiln::type* src, kiln::type* dst,         \
                      kiln::u8* workspace, kiln::u32 columns, kiln::u32 parts, kiln::u32 each, \
                      kiln::u32 step) {                                                        \
    kiln::families::softmax_long(src, dst, workspace, columns, parts, each, step);             \
  }
// name(src, dst, rows, columns)
#define SOFTMAX_STAGED(suffix, type, root)                                             \
  KILN_BOUNDED_KERNEL(128, 4, root##_##suffix, const kiln::type* src, kiln::type* dst, \
                      kiln::u32 rows, kiln::u32 columns) {                             \
    kiln::families::softmax_staged(src, dst, rows, columns);                           \
  }
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_SOFTMAX(EACH_ROW_OPERATION, SOFTMAX)
KILN_EACH_SOFTMAX_LONG(EACH_ROW_OPERATION, SOFTMAX_LONG)
KILN_EACH_SOFTMAX_STAGED(EACH_ROW_OPERATION, SOFTMAX_STAGED)
