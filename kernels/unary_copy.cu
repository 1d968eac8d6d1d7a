// unary: copies a view.
#include "device/export.cuh"
#include "families/copy.cuh"
#include "tables/unary.hpp"

#define COPY(suffix, type, root, op, cost, scalars)                                    \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, kiln::u64 numel, kiln::u64 num_dims,   \
                      const kiln::u64* info, const kiln::type* inp, kiln::type* out) { \
    kiln::families::copy(numel, num_dims, info, inp, out);                             \
  }
#define COPY_ROW(root, op, dtypes, cost, scalars) KILN_##dtypes(COPY, root, op, cost, scalars)

KILN_EACH_COPY(COPY_ROW)
