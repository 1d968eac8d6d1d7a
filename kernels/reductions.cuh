// What the sources of reductions share: how a row of tables/reduce.hpp becomes kernels.
#pragma once

#include "device/export.cuh"
#include "families/reduce.cuh"
#include "families/split_reduce.cuh"
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
#define KILN_REDUCTION(name, op, dtypes, output) \
  KILN_##dtypes(KILN_REDUCTION_KERNEL, fast_##name, op, output)

// name(rows, per_row, row_stride, stride, parts, each, src, dst, workspace)
#define KILN_SPLIT_KERNEL(suffix, type, root, op, output)                                      \
  KILN_BOUNDED_KERNEL(256, 3, root##_##suffix, kiln::u64 rows, kiln::u64 per_row,              \
                      kiln::u64 row_stride, kiln::u64 stride, kiln::u32 parts, kiln::u32 each, \
                      const kiln::type* src, KILN_OUT_##output(type) * dst,                    \
                      kiln::u8 * workspace) {                                                  \
    kiln::families::split_reduce<kiln::functors::op<kiln::type>>(                              \
        rows, per_row, row_stride, stride, parts, each, src, dst, workspace);                  \
  }
#define KILN_SPLIT(name, op, dtypes, output) \
  KILN_##dtypes(KILN_SPLIT_KERNEL, split_##name, op, output)
