// quantized: kiln's own kernels. Activations of any float type to Q8_1 or f16; products with one
// vector, of Q8_1 or floats, with results of any float type; silu(first) * second of two matrices;
// and a matrix for each task of a mixture of experts.
#include "device/export.cuh"
#include "families/fused_products.cuh"
#include "families/half_rows.cuh"
#include "families/quantize.cuh"
#include "families/rank_experts.cuh"
#include "gguf/formats.cuh"

// name(x, order, vy, kx, kx_padded, each)
#define QUANTIZE_ROWS(T)                                                                         \
  KILN_BOUNDED_KERNEL(1024, 2, quantize_rows_q8_1_##T, const kiln::T* x, const kiln::u32* order, \
                      void* vy, kiln::i32 kx, kiln::i32 kx_padded, kiln::u32 each) {             \
    kiln::families::quantize_q8_1(x, vy, kx, kx_padded, order, each);                            \
  }
KILN_EACH_ACTIVATION(QUANTIZE_ROWS)

KILN_KERNEL(1024, rank_experts, const kiln::u32* experts, kiln::u32* order, void* tiles,
            kiln::u32* places, kiln::u32 tasks, kiln::u32 tile) {
  kiln::families::rank_experts(experts, order, static_cast<kiln::tuning::ExpertTile*>(tiles),
                               places, tasks, tile);
}

// name(gates, values, scales, dst, rows, columns, dst_type)
KILN_KERNEL(1024, join_products, const kiln::f32* gates, const kiln::f32* values,
            const kiln::f32* scales, void* dst, kiln::u32 rows, kiln::u64 columns,
            kiln::u32 dst_type) {
  kiln::families::join_products(gates, values, scales, dst, rows, columns, dst_type);
}

// name(x, out, scales, places, columns, each, in_chunks)
#define HALF_ROWS(T)                                                                           \
  KILN_KERNEL(1024, half_rows_##T, const kiln::T* x, kiln::f16* out, kiln::f32* scales,        \
              const kiln::u32* places, kiln::u32 columns, kiln::u32 each,                      \
              kiln::u32 in_chunks) {                                                           \
    kiln::families::half_rows(x, out, scales, places, columns, each, in_chunks != 0);          \
  }
KILN_EACH_ACTIVATION(HALF_ROWS)

// name(first, second, vy, experts, dst, ncols, nrows, ncols_padded, nrows_dst, tasks_of_vector,
//      dst_type)
#define FUSED_VECTOR(format, suffix)                                                         \
  KILN_BOUNDED_KERNEL(kiln::tuning::kStreamedThreads, kiln::tuning::kStreamedBlocks,         \
                      fused_vector_##suffix, const void* first, const void* second,          \
                      const void* vy, const kiln::u32* experts, void* dst, kiln::i32 ncols,  \
                      kiln::i32 nrows, kiln::i32 ncols_padded, kiln::i32 nrows_dst,          \
                      kiln::i32 tasks_of_vector, kiln::u32 dst_type) {                       \
    kiln::families::fused_vector<kiln::gguf::format>(first, second, vy, experts, dst, ncols, \
                                                     nrows, ncols_padded, nrows_dst,         \
                                                     tasks_of_vector, dst_type);             \
  }
KILN_EACH_FUSED(FUSED_VECTOR)

// name(first, second, x, experts, dst, ncols, nrows, x_stride, nrows_dst, tasks_of_vector, x_type,
//      dst_type)
#define FUSED_FLOAT_VECTOR(format, suffix)                                                         \
  KILN_KERNEL(256, fused_float_vector_##suffix, const void* first, const void* second,             \
              const void* x, const kiln::u32* experts, void* dst, kiln::i32 ncols,                 \
              kiln::i32 nrows, kiln::i32 x_stride, kiln::i32 nrows_dst, kiln::i32 tasks_of_vector, \
              kiln::u32 x_type, kiln::u32 dst_type) {                                              \
    kiln::families::fused_float_vector<kiln::gguf::format>(first, second, x, experts, dst, ncols,  \
                                                           nrows, x_stride, nrows_dst,             \
                                                           tasks_of_vector, x_type, dst_type);     \
  }
KILN_EACH_FUSED(FUSED_FLOAT_VECTOR)
