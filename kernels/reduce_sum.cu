// reduce: sums that are added to what the output holds.
#include "device/export.cuh"
#include "families/sum.cuh"
#include "functors/reduction.cuh"
#include "tables/reduce.hpp"

#define SUM(suffix, type, root)                                                                    \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64 numel, kiln::u64 num_dims,               \
                      kiln::u64 num_sum_dims, const kiln::u64* info, const kiln::type* inp,        \
                      kiln::type* out) {                                                           \
    kiln::families::sum_into<kiln::functors::Sum<kiln::type>>(numel, num_dims, num_sum_dims, info, \
                                                              inp, out);                           \
  }
#define EACH_SUM(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_SUM(EACH_SUM, SUM)
