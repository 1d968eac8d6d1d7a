// cast: out[i] = D(inp[i]) for large views, kiln's own kernels.
#include "device/convert.cuh"
#include "families/cast_tiles.cuh"
#include "tables/cast.hpp"

#define CAST_TILES(from, to)                                                                   \
  KILN_BOUNDED_KERNEL(256, 8, cast_tiles_##from##_##to, kiln::u32 length, kiln::u32 lines,     \
                      kiln::u32 in_along, kiln::u32 in_beside, kiln::u32 out_along,            \
                      kiln::u32 out_beside, kiln::u32 in_y, kiln::u32 out_y, kiln::u32 in_z,   \
                      kiln::u32 out_z, const kiln::from* inp, kiln::to* out) {                 \
    kiln::families::map_tile({length, lines, in_along, in_beside, out_along, out_beside},      \
                             {in_y, out_y, in_z, out_z}, inp, out,                             \
                             [](kiln::from x) { return kiln::device::convert<kiln::to>(x); }); \
  }

KILN_EACH_TILED_CAST(CAST_TILES)
