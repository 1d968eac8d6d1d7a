// Shared by the sources of mul_mat.
#pragma once

#include "device/export.cuh"
#include "families/matrix_product.cuh"
#include "gguf/formats.cuh"

// name(vx, vy, dst, ncols_x, nrows_x, ncols_y, nrows_y, nrows_dst)
#define KILN_MUL_MAT(format, suffix, rows, vectors)                                               \
  KILN_BOUNDED_KERNEL(512, 1, mul_mat_##suffix, const void* vx, const void* vy, kiln::f32* dst,   \
                      kiln::i32 ncols_x, kiln::i32 nrows_x, kiln::i32 ncols_y, kiln::i32 nrows_y, \
                      kiln::i32 nrows_dst) {                                                      \
    kiln::families::mul_mat<kiln::gguf::format>(vx, vy, dst, ncols_x, nrows_x, ncols_y, nrows_y,  \
                                                nrows_dst);                                       \
  }
