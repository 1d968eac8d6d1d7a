// cast: out[i] = D(inp[i]).
#include "device/convert.cuh"
#include "families/elements.cuh"
#include "tables/cast.hpp"

#define CAST(from, to)                                                                             \
  KILN_BOUNDED_KERNEL(1024, 2, cast_##from##_##to, kiln::u64 numel, kiln::u64 num_dims,            \
                      const kiln::u64* info, const kiln::from* inp, kiln::to* out) {               \
    kiln::families::map_elements(numel, num_dims, info, out, inp,                                  \
                                 [](kiln::from x) { return kiln::device::convert<kiln::to>(x); }); \
  }

KILN_EACH_CAST(CAST)
