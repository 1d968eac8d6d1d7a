// quantized: products of a matrix and a vector of f32, and products of a mixture of experts.
#include "device/export.cuh"
#include "families/quantized_vector.cuh"
#include "gguf/formats.cuh"

// name(vx, y, dst, ncols, nrows)
#define OF_F32(format, suffix)                                                              \
  KILN_KERNEL(256, dequantize_mul_mat_vec_##suffix, const void* vx, const kiln::f32* y,     \
              kiln::f32* dst, kiln::i32 ncols, kiln::i32 nrows) {                           \
    kiln::families::multiply_f32_vector<kiln::gguf::format>(vx, y, dst, ncols,              \
                                                            static_cast<kiln::u32>(nrows)); \
  }
// name(vx, y, dst, ncols): a row for each block of the grid
#define OF_F32_GRID(format, suffix)                                                       \
  KILN_KERNEL(256, dequantize_mul_mat_vec_##suffix, const void* vx, const kiln::f32* y,   \
              kiln::f32* dst, kiln::i32 ncols) {                                          \
    kiln::families::multiply_f32_vector<kiln::gguf::format>(vx, y, dst, ncols,            \
                                                            kiln::device::block_count()); \
  }
KILN_EACH_DEQUANTIZE_MUL_MAT_VEC(OF_F32)
KILN_EACH_DEQUANTIZE_MUL_MAT_VEC_OF_GRID(OF_F32_GRID)

// name(all_weights, all_inputs, indices, all_outputs, n, k, batch, topk, k_padded, input_dim1)
#define MOE(format, suffix)                                                                        \
  KILN_BOUNDED_KERNEL(                                                                             \
      128, KILN_LIST(kiln::tuning::vector_blocks_held(1, kiln::gguf::format::kParts)),             \
      indexed_moe_forward_##suffix##_q8_1, const void* all_weights, const void* all_inputs,        \
      const kiln::u32* indices, kiln::f32* all_outputs, kiln::i32 n, kiln::i32 k, kiln::i32 batch, \
      kiln::i32 topk, kiln::i32 k_padded, kiln::i32 input_dim1) {                                  \
    kiln::families::indexed_moe<kiln::gguf::format>(all_weights, all_inputs, indices, all_outputs, \
                                                    n, k, batch, topk, k_padded, input_dim1);      \
  }
KILN_EACH_INDEXED_MOE(MOE)
