// Module quantized: conversion of blocks of GGUF files to floats, and products with them.
#pragma once

#include "dtypes.hpp"

// A row: the decoder (kernels/gguf), the format's usual name, the number of the type in a GGUF
// file, values and bytes of a block.
#define KILN_EACH_BLOCK_FORMAT(row) \
  row(Q4_0, "Q4_0", 2, 32, 18)      \
  row(Q4_1, "Q4_1", 3, 32, 20)      \
  row(Q5_0, "Q5_0", 6, 32, 22)      \
  row(Q5_1, "Q5_1", 7, 32, 24)      \
  row(Q8_0, "Q8_0", 8, 32, 34)      \
  row(Q2_K, "Q2_K", 10, 256, 84)    \
  row(Q3_K, "Q3_K", 11, 256, 110)   \
  row(Q4_K, "Q4_K", 12, 256, 144)   \
  row(Q5_K, "Q5_K", 13, 256, 176)   \
  row(Q6_K, "Q6_K", 14, 256, 210)   \
  row(Q8_K, "Q8_K", 15, 256, 292)   \
  row(IQ4_NL, "IQ4_NL", 20, 32, 18) \
  row(MXFP4, "MXFP4", 39, 32, 17)

// Formats that the ABI lacks. kiln's own kernels for them are dequantize_block_<suffix>_<T>, which
// takes the number of blocks as `k`, and mul_mat_vec_<suffix>_q8_1_cuda1.
#define KILN_EACH_OWN_FORMAT(row) row(IQ4_NL, iq4_nl) row(MXFP4, mxfp4)

// dequantize_block_<suffix>_<T>. A row: decoder, suffix. A launch gives the number of blocks as `k`
// (OF_BLOCKS), gives the number of values as `k` (OF_VALUES), or has one thread block for each
// block (OF_GRID). For the last, a row also has the threads of a thread block and the slices of a
// block.
#define KILN_EACH_DEQUANTIZE_OF_BLOCKS(row) row(Q4_0, q4_0) row(Q4_1, q4_1) row(Q8_0, q8_0)
#define KILN_EACH_DEQUANTIZE_OF_VALUES(row) row(Q5_0, q5_0) row(Q5_1, q5_1)
#define KILN_EACH_DEQUANTIZE_OF_GRID(row) \
  row(Q2_K, q2_K, 64, 16)                     \
  row(Q3_K, q3_K, 64, 16)                     \
  row(Q4_K, q4_K, 32, 32)                     \
  row(Q5_K, q5_K, 64, 32)                     \
  row(Q6_K, q6_K, 64, 16)                     \
  row(Q8_K, q8_K, 32, 64)

// get_rows_<suffix>
#define KILN_EACH_GET_FLOAT_ROWS(row) row(f32, f32) row(f16, f16) row(bf16, bf16)
#define KILN_EACH_GET_ROWS(row) \
  row(Q4_0, q4_0)               \
  row(Q4_1, q4_1)               \
  row(Q5_0, q5_0)               \
  row(Q5_1, q5_1)               \
  row(Q8_0, q8_0)               \
  row(Q2_K, q2_K)               \
  row(Q3_K, q3_K)               \
  row(Q4_K, q4_K)               \
  row(Q5_K, q5_K)               \
  row(Q6_K, q6_K)

// dequantize_mul_mat_vec_<suffix>. The kernel of Q5_K does not take the number of rows.
#define KILN_EACH_DEQUANTIZE_MUL_MAT_VEC(row) \
  row(Q4_0, q4_0_cuda)                        \
  row(Q4_1, q4_1_cuda)                        \
  row(Q5_0, q5_0_cuda)                        \
  row(Q5_1, q5_1_cuda)                        \
  row(Q8_0, q8_0_cuda)                        \
  row(Q2_K, q2_k)                             \
  row(Q3_K, q3_k)                             \
  row(Q4_K, q4_k)                             \
  row(Q6_K, q6_k)
#define KILN_EACH_DEQUANTIZE_MUL_MAT_VEC_OF_GRID(row) row(Q5_K, q5_k)

// mul_mat_vec_<suffix>_q8_1_cuda<vectors>, for 1 to 8 vectors, and mul_mat_<suffix>. A row:
// decoder, suffix, and the rows and vectors of the result that a thread block of mul_mat makes.
// Blocks of 32 values are short, blocks of 256 values are long.
#define KILN_EACH_SHORT_MUL_MAT(row) \
  row(Q4_0, q4_0, 128, 64)           \
  row(Q4_1, q4_1, 128, 64)           \
  row(Q5_0, q5_0, 64, 128)           \
  row(Q5_1, q5_1, 64, 128)           \
  row(Q8_0, q8_0, 64, 128)
#define KILN_EACH_LONG_MUL_MAT(row) \
  row(Q2_K, q2_K, 128, 64)          \
  row(Q3_K, q3_K, 128, 128)         \
  row(Q4_K, q4_K, 128, 64)          \
  row(Q5_K, q5_K, 128, 64)          \
  row(Q6_K, q6_K, 64, 64)
#define KILN_EACH_MUL_MAT(row) KILN_EACH_SHORT_MUL_MAT(row) KILN_EACH_LONG_MUL_MAT(row)

// indexed_moe_forward_<suffix>_q8_1
#define KILN_EACH_INDEXED_MOE(row) \
  row(Q2_K, q2k)                   \
  row(Q3_K, q3k)                   \
  row(Q4_K, q4k)                   \
  row(Q5_K, q5k)                   \
  row(Q6_K, q6k)                   \
  row(Q8_0, q8_0)

// Formats of kiln's own product kernels: fused_vector_<suffix>, fused_float_vector_<suffix> and
// fused_matrix_<suffix>, and half_matrix_<suffix> of module quantized_half.
#define KILN_EACH_FUSED(row) \
  row(Q4_0, q4_0)            \
  row(Q8_0, q8_0)            \
  row(Q4_K, q4_K)            \
  row(Q5_K, q5_K)            \
  row(Q6_K, q6_K)            \
  row(MXFP4, mxfp4)

// held_vectors_<suffix>: the same as mul_mat_<suffix>, for up to eight vectors
#define KILN_EACH_HELD(row) \
  row(Q4_0, q4_0)           \
  row(Q4_1, q4_1)           \
  row(Q5_0, q5_0)           \
  row(Q8_0, q8_0)           \
  row(Q4_K, q4_K)           \
  row(Q5_K, q5_K)           \
  row(Q6_K, q6_K)

// quantize_rows_q8_1_<T> and half_rows_<T>
#define KILN_EACH_ACTIVATION(row) row(f32) row(f16) row(bf16)
