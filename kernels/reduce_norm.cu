// reduce: the norms of rows.
#include "device/export.cuh"
#include "families/norm.cuh"
#include "tables/reduce.hpp"

// `block_size` is the block's along x, which the kernels know.
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
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_RMSNORM(EACH_ROW_OPERATION, RMSNORM)
KILN_EACH_LAYERNORM(EACH_ROW_OPERATION, LAYERNORM)
