// quantized: kiln's own products with many vectors, which may be those of tasks sorted by expert.
#include "device/export.cuh"
#include "families/fused_products.cuh"
#include "gguf/formats.cuh"

// name(weights, gates, vy, order, tiles, dst, ncols, nrows, ncols_y, ncols_padded, nrows_dst,
//      dst_type)
#define FUSED_MATRIX(format, suffix)                                                               \
  KILN_BOUNDED_KERNEL(256, 2, fused_matrix_##suffix, const void* weights, const kiln::f32* gates,  \
                      const void* vy, const kiln::u32* order, const void* tiles, void* dst,        \
                      kiln::i32 ncols, kiln::i32 nrows, kiln::i32 ncols_y, kiln::i32 ncols_padded, \
                      kiln::i32 nrows_dst, kiln::u32 dst_type) {                                   \
    kiln::families::fused_matrix<kiln::gguf::format>(                                              \
        weights, gates, vy, order, static_cast<const kiln::tuning::ExpertTile*>(tiles), dst,       \
        ncols, nrows, ncols_y, ncols_padded, nrows_dst, dst_type);                                 \
  }
KILN_EACH_FUSED(FUSED_MATRIX)
