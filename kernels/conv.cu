// conv: convolutions of one and two dims.
#include "device/export.cuh"
#include "families/convolve.cuh"
#include "functors/reduction.cuh"
#include "tables/conv.hpp"

#define LAYOUT_AND_DATA(type) \
  const kiln::u64 *info, const kiln::type *src, const kiln::type *kernel, kiln::type *dst

// Of one dim the second parameter, which is called num_dims, is the length of the output.
#define CONV1D(suffix, type, root)                                                               \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 num_dims, kiln::u64 stride, \
                      kiln::u64 padding, kiln::u64 dilation, LAYOUT_AND_DATA(type)) {            \
    kiln::families::convolve1d<kiln::families::Plain, kiln::functors::Accumulate<kiln::type>>(   \
        num_dims, stride, padding, dilation, info, src, kernel, dst);                            \
  }
// Of two dims "h" is dim 2, "w" dim 3.
#define CONV2D(suffix, type, root)                                                             \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 w_out, kiln::u64 h_out,   \
                      kiln::u64 stride, kiln::u64 padding, kiln::u64 dilation,                 \
                      LAYOUT_AND_DATA(type)) {                                                 \
    kiln::families::convolve2d<kiln::families::Plain, kiln::functors::Accumulate<kiln::type>>( \
        h_out, w_out, stride, padding, dilation, info, src, kernel, dst);                      \
  }
#define EACH_CONV1D(root, dtypes) KILN_##dtypes(CONV1D, root)
#define EACH_CONV2D(root, dtypes) KILN_##dtypes(CONV2D, root)

KILN_EACH_CONV1D(EACH_CONV1D)
KILN_EACH_CONV2D(EACH_CONV2D)
