// reduce: softmax of rows, by a block or several.
#include "device/export.cuh"
#include "families/softmax.cuh"
#include "families/softmax_long.cuh"
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
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_SOFTMAX(EACH_ROW_OPERATION, SOFTMAX)
KILN_EACH_SOFTMAX_LONG(EACH_ROW_OPERATION, SOFTMAX_LONG)
