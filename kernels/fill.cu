// fill: constants into contiguous and strided memory, and copies of a matrix between row pitches.
#include "device/export.cuh"
#include "families/copy2d.cuh"
#include "families/fill.cuh"
#include "tables/fill.hpp"

// name(buf, value, numel)
#define FILL(suffix, type, root)                                                   \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::type* buf, kiln::type value, \
                      kiln::u64 numel) {                                           \
    kiln::families::fill(numel, buf, value);                                       \
  }
// name(numel, num_dims, info, inp, out): stores the scalar `inp` in every element of a strided view
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
#define EACH_FILL(root, dtypes) KILN_##dtypes(FILL, root)
#define EACH_CONST_SET(root, dtypes) KILN_##dtypes(CONST_SET, root)
#define EACH_COPY2D(root, dtypes) KILN_##dtypes(COPY2D, root)

KILN_EACH_FILL(EACH_FILL)
KILN_EACH_CONST_SET(EACH_CONST_SET)
KILN_EACH_COPY2D(EACH_COPY2D)
