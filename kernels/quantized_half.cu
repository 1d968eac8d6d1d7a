// quantized_half: kiln's own products of quantized weights and many f16 vectors.
#include "device/export.cuh"
#include "families/half_products.cuh"
#include "gguf/formats.cuh"

inline constexpr unsigned kMaxThreads =
    kiln::tuning::half_max_threads(kiln::device::kHasWarpGroups) +
    kiln::tuning::half_copying_threads(kiln::device::kHasWarpGroups);

// name(weights, gates, x, scales, order, tiles, dst, ncols, nrows, ncols_y, nrows_dst, dst_type,
//      parts, part_threads)
#define HALF_MATRIX(format, suffix)                                                                \
  KILN_BOUNDED_KERNEL(kMaxThreads, 1, half_matrix_##suffix, const void* weights,                   \
                      const kiln::f32* gates, const kiln::f16* x, const kiln::f32* scales,         \
                      const kiln::u32* order, const void* tiles, void* dst, kiln::i32 ncols,       \
                      kiln::i32 nrows, kiln::i32 ncols_y, kiln::i32 nrows_dst, kiln::u32 dst_type, \
                      kiln::u32 parts, kiln::u32 part_threads) {                                   \
    using kiln::u32;                                                                               \
    kiln::families::HalfMatrix<kiln::gguf::format>{                                                \
        weights,                                                                                   \
        gates,                                                                                     \
        x,                                                                                         \
        scales,                                                                                    \
        order,                                                                                     \
        static_cast<const kiln::tuning::ExpertTile*>(tiles),                                       \
        {dst, static_cast<u32>(nrows_dst), dst_type, false},                                       \
        static_cast<u32>(ncols),                                                                   \
        static_cast<u32>(nrows),                                                                   \
        static_cast<u32>(ncols_y),                                                                 \
        parts,                                                                                     \
        part_threads}                                                                              \
        .multiply();                                                                               \
  }
KILN_EACH_FUSED(HALF_MATRIX)
