// conv: im2col and col2im, pools, upsampling.
#include "device/export.cuh"
#include "families/im2col.cuh"
#include "families/pool.cuh"
#include "families/upsample.cuh"
#include "functors/reduction.cuh"
#include "functors/window.cuh"
#include "tables/conv.hpp"

#define LAYOUT_AND_DATA(type) const kiln::u64 *info, const kiln::type *src, kiln::type *dst

// dst_numel counts windows of one channel.
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

// "w" is dim 2, "h" dim 3; of upsample_bilinear2d, as of tensors, the reverse.
#define POOL2D(suffix, type, root, op)                                                            \
  KILN_BOUNDED_KERNEL(1024, sizeof(kiln::type) == 8 ? 1 : 2, root##_##suffix, kiln::u64,          \
                      kiln::u64 w_k, kiln::u64 h_k, kiln::u64 w_stride, kiln::u64 h_stride,       \
                      LAYOUT_AND_DATA(type)) {                                                    \
    kiln::families::pool<kiln::functors::op<kiln::type>>(w_k, h_k, w_stride, h_stride, info, src, \
                                                         dst);                                    \
  }
#define UPSAMPLE_NEAREST2D(suffix, type, root)                                        \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 w_out, kiln::u64 h_out,     \
                      kiln::f64 w_scale, kiln::f64 h_scale, LAYOUT_AND_DATA(type)) {  \
    kiln::families::upsample_nearest(w_out, h_out, w_scale, h_scale, info, src, dst); \
  }
#define UPSAMPLE_NEAREST1D(suffix, type, root)                                                 \
  KILN_BOUNDED_KERNEL(1024, sizeof(kiln::type) == 1 ? 1 : 2, root##_##suffix, kiln::u64 l_out, \
                      kiln::f64 scale, LAYOUT_AND_DATA(type)) {                                \
    kiln::families::upsample_nearest1d(l_out, scale, info, src, dst);                          \
  }
#define UPSAMPLE_BILINEAR2D(suffix, type, root)                                                   \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, kiln::u64 w_out, kiln::u64 h_out,                 \
                      bool align_corners, bool has_scale_h, kiln::f64 scale_h_factor,             \
                      bool has_scale_w, kiln::f64 scale_w_factor, LAYOUT_AND_DATA(type)) {        \
    kiln::families::upsample_bilinear(h_out, w_out, align_corners, {has_scale_h, scale_h_factor}, \
                                      {has_scale_w, scale_w_factor}, info, src, dst);             \
  }
#define EACH_POOL2D(root, op, dtypes) KILN_##dtypes(POOL2D, root, op)
#define EACH_UPSAMPLE_NEAREST2D(root, dtypes) KILN_##dtypes(UPSAMPLE_NEAREST2D, root)
#define EACH_UPSAMPLE_NEAREST1D(root, dtypes) KILN_##dtypes(UPSAMPLE_NEAREST1D, root)
#define EACH_UPSAMPLE_BILINEAR2D(root, dtypes) KILN_##dtypes(UPSAMPLE_BILINEAR2D, root)

KILN_EACH_POOL2D(EACH_POOL2D)
KILN_EACH_UPSAMPLE_NEAREST2D(EACH_UPSAMPLE_NEAREST2D)
KILN_EACH_UPSAMPLE_NEAREST1D(EACH_UPSAMPLE_NEAREST1D)
KILN_EACH_UPSAMPLE_BILINEAR2D(EACH_UPSAMPLE_BILINEAR2D)
