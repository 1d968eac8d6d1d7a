// reduce: reductions of the last dims of a view, and operations on rows.
#include "device/export.cuh"
#include "families/reduce.cuh"
#include "families/softmax.cuh"
#include "functors/reduction.cuh"
#include "tables/reduce.hpp"

#define OUT_Same(type) kiln::type
#define OUT_Index(type) kiln::u32
#define REDUCTION(suffix, type, root, op, output)                                               \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64 src_numel,                            \
                      kiln::u64 el_to_sum_per_block, kiln::u64 num_dims, const kiln::u64* info, \
                      const kiln::type* src, OUT_##output(type) * dst) {                        \
    kiln::families::reduce<kiln::functors::op<kiln::type>>(src_numel, el_to_sum_per_block,      \
                                                           num_dims, info, src, dst);           \
  }
#define EACH_REDUCTION(name, op, dtypes, output) KILN_##dtypes(REDUCTION, fast_##name, op, output)

KILN_EACH_REDUCTION(EACH_REDUCTION)

#define SOFTMAX(suffix, type, root)                                                     \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, const kiln::type* src, kiln::type* dst, \
                      kiln::i32 n_cols) {                                               \
    kiln::families::softmax(src, dst, n_cols);                                          \
  }
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_SOFTMAX(EACH_ROW_OPERATION, SOFTMAX)
