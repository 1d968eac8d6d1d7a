// cast: out[i] = D(inp[i]).
#include "device/convert.cuh"
#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "tables/cast.hpp"

#define KERNEL(from, to)                                                      \
  KILN_ELEMENTWISE(                                                           \
      cast_##from##_##to, Brief, Rows,                                        \
      [](kiln::from x) { return kiln::device::convert<kiln::to>(x); }, (inp), \
      const kiln::from* inp, kiln::to* out)

KILN_EACH_CAST(KERNEL)
