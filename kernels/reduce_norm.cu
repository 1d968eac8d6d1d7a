// reduce: the norms of rows.
#include "device/export.cuh"
#include "families/norm.cuh"
#include "families/norm_long.cuh"
#include "tables/reduce.hpp"

// The unnamed parameter is `block_size`, the block's size along x, which the kernels know.
#define RMSNORM(suffix, type, root)                                                          \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, kiln::type* dst,      \
                      const kiln::type* alpha, kiln::i32 n_cols, kiln::i32, kiln::f32 eps) { \
    kiln::families::norm<kiln::families::Center::kZero>(                                     \
        src, dst, alpha, static_cast<const kiln::type*>(nullptr), n_cols, eps);              \
  }
#define LAYERNORM(suffix, type, root)                                                        \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, kiln::type* dst,      \
                      const kiln::type* alpha, const kiln::type* beta, kiln::i32 n_cols,     \
                      kiln::i32, kiln::f32 eps) {                                            \
    kiln::families::norm<kiln::families::Center::kMean>(src, dst, alpha, beta, n_cols, eps); \
  }
// name(src, dst, alpha, beta, workspace, columns, parts, each, centered, eps, step)
#define NORM_LONG(suffix, type, root)                                                         \
  KILN_BOUNDED_KERNEL(256, 3, root##_##suffix, const kiln::type* src, kiln::type* dst,        \
                      const kiln::type* alpha, const kiln::type* beta, kiln::u8* workspace,   \
                      kiln::u32 columns, kiln::u32 parts, kiln::u32 each, kiln::u32 centered, \
                      kiln::f32 eps, kiln::u32 step) {                                        \
    kiln::families::norm_long(src, dst, alpha, beta, workspace, columns, parts, each,         \
                              centered != 0, eps, step);                                      \
  }
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_RMSNORM(EACH_ROW_OPERATION, RMSNORM)
KILN_EACH_LAYERNORM(EACH_ROW_OPERATION, LAYERNORM)
KILN_EACH_NORM_LONG(EACH_ROW_OPERATION, NORM_LONG)
