// What the sources of mul_mat_vec share: how a format and a number of vectors become a kernel. Each
// source has one number of vectors or two; from five on, the products are those of matrix units.
#pragma once

#include "device/export.cuh"
#include "families/quantized_matrix.cuh"
#include "families/quantized_vector.cuh"
#include "gguf/formats.cuh"

// name(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst)
#define KILN_MUL_MAT_VEC(format, suffix, vectors, blocks, family)                             \
  KILN_BOUNDED_KERNEL(128, blocks, mul_mat_vec_##suffix##_q8_1_cuda##vectors, const void* vx, \
                      const void* vy, kiln::f32* dst, kiln::i32 ncols_x, kiln::i32 nrows_x,   \
                      kiln::i32 nrows_y, kiln::i32 nrows_dst) {                               \
    kiln::families::family(vx, vy, dst, ncols_x, nrows_x, nrows_y, nrows_dst);                \
  }
#define KILN_FEW_VECTORS(format, suffix, vectors)                                          \
  KILN_MUL_MAT_VEC(format, suffix, vectors,                                                \
                   (kiln::tuning::vector_blocks_held(vectors, kiln::gguf::format::kValues, \
                                                     kiln::gguf::format::kParts)),         \
                   KILN_LIST(mul_mat_vec<kiln::gguf::format, vectors>))
#define KILN_MANY_VECTORS(format, suffix, vectors) \
  KILN_MUL_MAT_VEC(format, suffix, vectors, 1,     \
                   KILN_LIST(mul_mat_vectors<kiln::gguf::format, vectors, 4>))
