// Shared by the sources of reductions: makes a row of tables/reduce.hpp kernels.
#pragma once

#include "device/export.cuh"
#include "families/reduce.cuh"
#include "functors/reduction.cuh"
#include "tables/reduce.hpp"

#define KILN_OUT_Same(type) kiln::type
#define KILN_OUT_Index(type) kiln::u32
#define KILN_REDUCTION_KERNEL(suffix, type, root, op, output)                                   \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64 src_numel,                            \
                      kiln::u64 el_to_sum_per_block, kiln::u64 num_dims, const kiln::u64* info, \
                      const kiln::type* src, KILN_OUT_##output(type) * dst) {                   \
    kiln::families::reduce<kiln::functors::op<kiln::type>>(src_numel, el_to_sum_per_block,      \
                                                           num_dims, info, src, dst);           \
  }
#define KILN_REDUCTION(name, op, dtypes, output, ...) \
  KILN_##dtypes(KILN_REDUCTION_KERNEL, fast_##name, op, output)
