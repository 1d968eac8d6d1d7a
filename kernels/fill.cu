// fill: constants into contiguous and strided memory, numbers in a row, and copies: of a matrix
// between row pitches, of its transpose, of a slice.
#include "device/export.cuh"
#include "families/arange.cuh"
#include "families/copy2d.cuh"
#include "families/fill.cuh"
#include "families/slice.cuh"
#include "families/transpose.cuh"
#include "tables/fill.hpp"

// name(buf, value, numel)
#define FILL(suffix, type, root)                                                   \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::type* buf, kiln::type value, \
                      kiln::u64 numel) {                                           \
    kiln::families::fill(numel, buf, value);                                       \
  }
// name(numel, num_dims, info, inp, out): the scalar `inp` into every element of a strided view
#define CONST_SET(suffix, type, root)                                                \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 numel, kiln::u64 num_dims, \
                      const kiln::u64* info, kiln::type inp, kiln::type* out) {      \
    kiln::families::fill(numel, num_dims, info, out, inp);                           \
  }
// name(src, dst, d1, d2, src_s, dst_s)
#define COPY2D(suffix, type, root)                                                      \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, kiln::type* dst, \
                      kiln::u32 d1, kiln::u32 d2, kiln::u32 src_s, kiln::u32 dst_s) {   \
    kiln::families::copy2d(src, dst, d1, d2, src_s, dst_s);                             \
  }
// name(numel, start, step, out)
#define ARANGE(suffix, type, root)                                                 \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 numel, kiln::type start, \
                      kiln::type step, kiln::type* out) {                          \
    kiln::families::arange(numel, start, step, out);                               \
  }
// name(matrices, rows, columns, inp, out)
#define TRANSPOSE(suffix, type, root)                                              \
  KILN_BOUNDED_KERNEL(256, 6, root##_##suffix, kiln::u64 matrices, kiln::u64 rows, \
                      kiln::u64 columns, const kiln::type* inp, kiln::type* out) { \
    kiln::families::transpose(matrices, rows, columns, inp, out);                  \
  }
// name(left, size, right, start, step, count, inp, out)
#define SLICE(suffix, type, root)                                                                 \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 left, kiln::u64 size, kiln::u64 right,  \
                      kiln::u64 start, kiln::u64 step, kiln::u64 count, const kiln::type* inp,    \
                      kiln::type* out) {                                                          \
    kiln::families::slice(kiln::families::Runs(left, size, right, start, step, count), inp, out); \
  }
#define EACH_FILL(root, dtypes) KILN_##dtypes(FILL, root)
#define EACH_CONST_SET(root, dtypes) KILN_##dtypes(CONST_SET, root)
#define EACH_COPY2D(root, dtypes) KILN_##dtypes(COPY2D, root)
#define EACH_ARANGE(root, dtypes) KILN_##dtypes(ARANGE, root)
#define EACH_TRANSPOSE(root, dtypes) KILN_##dtypes(TRANSPOSE, root)
#define EACH_SLICE(root, dtypes) KILN_##dtypes(SLICE, root)

KILN_EACH_FILL(EACH_FILL)
KILN_EACH_CONST_SET(EACH_CONST_SET)
KILN_EACH_COPY2D(EACH_COPY2D)
KILN_EACH_ARANGE(EACH_ARANGE)
KILN_EACH_TRANSPOSE(EACH_TRANSPOSE)
KILN_EACH_SLICE(EACH_SLICE)
