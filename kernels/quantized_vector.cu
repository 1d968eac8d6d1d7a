// quantized: products of a matrix and up to eight vectors.
#include "device/export.cuh"
#include "families/quantized_matrix.cuh"
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

// name(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst)
#define OF_Q8_1(format, suffix, vectors, threads, family)                                         \
  KILN_KERNEL(threads, mul_mat_vec_##suffix##_q8_1_cuda##vectors, const void* vx, const void* vy, \
              kiln::f32* dst, kiln::i32 ncols_x, kiln::i32 nrows_x, kiln::i32 nrows_y,            \
              kiln::i32 nrows_dst) {                                                              \
    kiln::families::family(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst);                    \
  }
#define FEW(format, suffix, vectors) \
  OF_Q8_1(format, suffix, vectors, 256, KILN_LIST(mul_mat_vec<kiln::gguf::format, vectors>))
#define MANY(format, suffix, vectors) \
  OF_Q8_1(format, suffix, vectors, 128, KILN_LIST(mul_mat_vectors<kiln::gguf::format, vectors, 4>))
#define MUL_MAT_VEC(format, suffix, rows, vectors)                                              \
  FEW(format, suffix, 1)                                                                        \
  FEW(format, suffix, 2)                                                                        \
  FEW(format, suffix, 3) FEW(format, suffix, 4) MANY(format, suffix, 5) MANY(format, suffix, 6) \
      MANY(format, suffix, 7) MANY(format, suffix, 8)
KILN_EACH_MUL_MAT(MUL_MAT_VEC)
#define ONE(format, suffix) FEW(format, suffix, 1)
KILN_EACH_OWN_FORMAT(ONE)

// name(all_weights, all_inputs, indices, all_outputs, n, k, batch, topk, k_padded, input_dim1)
#define MOE(format, suffix)                                                                        \
  KILN_KERNEL(256, indexed_moe_forward_##suffix##_q8_1, const void* all_weights,                   \
              const void* all_inputs, const kiln::u32* indices, kiln::f32* all_outputs,            \
              kiln::i32 n, kiln::i32 k, kiln::i32 batch, kiln::i32 topk, kiln::i32 k_padded,       \
              kiln::i32 input_dim1) {                                                              \
    kiln::families::indexed_moe<kiln::gguf::format>(all_weights, all_inputs, indices, all_outputs, \
                                                    n, k, batch, topk, k_padded, input_dim1);      \
  }
KILN_EACH_INDEXED_MOE(MOE)
