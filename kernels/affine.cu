// affine: out[i] = inp[i] * mul + add. If `inp` is null, it reads out[i] instead.
#include "device/export.cuh"
#include "families/map.cuh"
#include "functors/affine.cuh"
#include "functors/apply.cuh"
#include "tables/affine.hpp"

#define KERNEL(suffix, type, root, op, cost)                                       \
  KILN_MAP(root##_##suffix, cost,                                                  \
           (kiln::functors::apply<kiln::functors::op, kiln::type>(mul, add)), inp, \
           const kiln::type* inp, kiln::type* out, kiln::type mul, kiln::type add)
#define ROW(root, op, dtypes, cost, scalars) KILN_##dtypes(KERNEL, root, op, cost)

KILN_EACH_AFFINE(ROW)
