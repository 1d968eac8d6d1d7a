// conv: im2col, col2im and pools.
#include "device/export.cuh"
#include "families/im2col.cuh"
#include "families/pool.cuh"
#include "functors/reduction.cuh"
#include "functors/window.cuh"
#include "tables/conv.hpp"

#define LAYOUT_AND_DATA(type) const kiln::u64 *info, const kiln::type *src, kiln::type *dst

// The first parameter of im2col, dst_numel, counts the windows of one channel.
#define IM2COL1D(suffix, type, root)                                                       \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 l_out, kiln::u64 l_k, \
                      kiln::u64 stride, kiln::u64 padding, kiln::u64 dilation,             \
                      LAYOUT_AND_DATA(type)) {                                             \
    kiln::families::im2col1d(l_out, l_k, stride, padding, dilation, info, src, dst);       \
  }
#define IM2COL(suffix, type, root)                                                               \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64, kiln::u64 h_out, kiln::u64 w_out,     \
                      kiln::u64 h_k, kiln::u64 w_k, kiln::u64 stride, kiln::u64 padding,         \
                      kiln::u64 dilation, LAYOUT_AND_DATA(type)) {                               \
    kiln::families::im2col2d(h_out, w_out, h_k, w_k, stride, padding, dilation, info, src, dst); \
  }
#define COL2IM1D(suffix, type, root)                                                               \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 dst_el, kiln::u64 l_out, kiln::u64 l_in, \
                      kiln::u64 c_out, kiln::u64 k_size, kiln::u64 stride, const kiln::type* src,  \
                      kiln::type* dst) {                                                           \
    kiln::families::col2im1d<kiln::functors::Sum<kiln::type>>(dst_el, l_out, l_in, c_out, k_size,  \
                                                              stride, src, dst);                   \
  }
#define EACH_IM2COL1D(root, dtypes) KILN_##dtypes(IM2COL1D, root)
#define EACH_IM2COL(root, dtypes) KILN_##dtypes(IM2COL, root)
#define EACH_COL2IM1D(root, dtypes) KILN_##dtypes(COL2IM1D, root)

KILN_EACH_IM2COL1D(EACH_IM2COL1D)
KILN_EACH_IM2COL(EACH_IM2COL)
KILN_EACH_COL2IM1D(EACH_COL2IM1D)

// "w" is dim 2 and "h" is dim 3.
#define POOL2D(suffix, type, root, op)                                                            \
  KILN_BOUNDED_KERNEL(1024, sizeof(kiln::type) == 8 ? 1 : 2, root##_##suffix, kiln::u64,          \
                      kiln::u64 w_k, kiln::u64 h_k, kiln::u64 w_stride, kiln::u64 h_stride,       \
                      LAYOUT_AND_DATA(type)) {                                                    \
    kiln::families::pool<kiln::functors::op<kiln::type>>(w_k, h_k, w_stride, h_stride, info, src, \
                                                         dst);                                    \
  }
#define EACH_POOL2D(root, op, dtypes) KILN_##dtypes(POOL2D, root, op)

KILN_EACH_POOL2D(EACH_POOL2D)
