// conv: upsampling.
#include "device/export.cuh"
#include "families/upsample.cuh"
#include "tables/conv.hpp"

#define LAYOUT_AND_DATA(type) const kiln::u64 *info, const kiln::type *src, kiln::type *dst

// "w" is dim 2 and "h" is dim 3. In upsample_bilinear2d it is the reverse, as in tensors.
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
#define EACH_UPSAMPLE_NEAREST2D(root, dtypes) KILN_##dtypes(UPSAMPLE_NEAREST2D, root)
#define EACH_UPSAMPLE_NEAREST1D(root, dtypes) KILN_##dtypes(UPSAMPLE_NEAREST1D, root)
#define EACH_UPSAMPLE_BILINEAR2D(root, dtypes) KILN_##dtypes(UPSAMPLE_BILINEAR2D, root)

KILN_EACH_UPSAMPLE_NEAREST2D(EACH_UPSAMPLE_NEAREST2D)
KILN_EACH_UPSAMPLE_NEAREST1D(EACH_UPSAMPLE_NEAREST1D)
KILN_EACH_UPSAMPLE_BILINEAR2D(EACH_UPSAMPLE_BILINEAR2D)
