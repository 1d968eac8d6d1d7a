// conv: convolutions in one and two dims, and transposed convolutions.
#include "device/export.cuh"
#include "families/convolve.cuh"
#include "functors/reduction.cuh"
#include "tables/conv.hpp"

#define LAYOUT_AND_DATA(type) \
  const kiln::u64 *info, const kiln::type *src, const kiln::type *kernel, kiln::type *dst
#define CONVOLVE(type, transposed, dims, ...)                                         \
  kiln::families::convolve<transposed, dims, kiln::functors::Accumulate<kiln::type>>( \
      __VA_ARGS__, info, src, kernel, dst)

// In one dim, the second parameter is called num_dims but is the length of the output.
#define CONV1D(suffix, type, root)                                                               \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 num_dims, kiln::u64 stride, \
                      kiln::u64 padding, kiln::u64 dilation, LAYOUT_AND_DATA(type)) {            \
    CONVOLVE(type, false, 1, 1, num_dims, stride, padding, dilation);                            \
  }
#define CONV_TRANSPOSE1D(suffix, type, root)                                                     \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 l_out, kiln::u64 stride,    \
                      kiln::u64 padding, kiln::u64, kiln::u64 dilation, LAYOUT_AND_DATA(type)) { \
    CONVOLVE(type, true, 1, 1, l_out, stride, padding, dilation);                                \
  }
// In two dims, "h" is dim 2 and "w" is dim 3.
#define CONV2D(suffix, type, root)                                                           \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 w_out, kiln::u64 h_out, \
                      kiln::u64 stride, kiln::u64 padding, kiln::u64 dilation,               \
                      LAYOUT_AND_DATA(type)) {                                               \
    CONVOLVE(type, false, 2, h_out, w_out, stride, padding, dilation);                       \
  }
#define CONV_TRANSPOSE2D(suffix, type, root)                                                 \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 w_out, kiln::u64 h_out, \
                      kiln::u64 stride, kiln::u64 padding, kiln::u64, kiln::u64 dilation,    \
                      LAYOUT_AND_DATA(type)) {                                               \
    CONVOLVE(type, true, 2, h_out, w_out, stride, padding, dilation);                        \
  }
#define EACH_CONV1D(root, dtypes) KILN_##dtypes(CONV1D, root)
#define EACH_CONV_TRANSPOSE1D(root, dtypes) KILN_##dtypes(CONV_TRANSPOSE1D, root)
#define EACH_CONV2D(root, dtypes) KILN_##dtypes(CONV2D, root)
#define EACH_CONV_TRANSPOSE2D(root, dtypes) KILN_##dtypes(CONV_TRANSPOSE2D, root)

KILN_EACH_CONV1D(EACH_CONV1D)
KILN_EACH_CONV_TRANSPOSE1D(EACH_CONV_TRANSPOSE1D)
KILN_EACH_CONV2D(EACH_CONV2D)
KILN_EACH_CONV_TRANSPOSE2D(EACH_CONV_TRANSPOSE2D)
