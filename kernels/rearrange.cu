// rearrange: ranges of numbers, and copies of transposes and slices.
#include "device/export.cuh"
#include "families/arange.cuh"
#include "families/slice.cuh"
#include "families/transpose.cuh"
#include "tables/rearrange.hpp"

// name(numel, start, step, out)
#define ARANGE(suffix, type, root)                                                 \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 numel, kiln::type start, \
                      kiln::type step, kiln::type* out) {                          \
    kiln::families::arange(numel, start, step, out);                               \
  }
// name(matrices, rows, columns, inp, out)
#define TRANSPOSE(suffix, type, root)                                                              \
  KILN_BOUNDED_KERNEL(256, kiln::tuning::blocks_of_transpose(sizeof(kiln::type)), root##_##suffix, \
                      kiln::u64 matrices, kiln::u64 rows, kiln::u64 columns,                       \
                      const kiln::type* inp, kiln::type* out) {                                    \
    kiln::families::transpose(matrices, rows, columns, inp, out);                                  \
  }
// name(left, size, right, start, step, count, pitch, inp, out)
#define SLICE(suffix, type, root)                                                                  \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 left, kiln::u64 size, kiln::u64 right,   \
                      kiln::u64 start, kiln::u64 step, kiln::u64 count, kiln::u64 pitch,           \
                      const kiln::type* inp, kiln::type* out) {                                    \
    kiln::families::slice(kiln::families::Runs(left, size, right, start, step, count), pitch, inp, \
                          out);                                                                    \
  }
#define EACH_ARANGE(root, dtypes) KILN_##dtypes(ARANGE, root)
#define EACH_TRANSPOSE(root, dtypes) KILN_##dtypes(TRANSPOSE, root)
#define EACH_SLICE(root, dtypes) KILN_##dtypes(SLICE, root)

KILN_EACH_ARANGE(EACH_ARANGE)
KILN_EACH_TRANSPOSE(EACH_TRANSPOSE)
KILN_EACH_SLICE(EACH_SLICE)
