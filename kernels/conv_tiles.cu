// conv: convolutions as products of matrices.
#include "device/export.cuh"
#include "families/convolve_tiles.cuh"
#include "tables/conv.hpp"

// name(info, src, kernel, dst)
#define TILES(suffix, type, root, channels, outputs, teams)                                  \
  KILN_BOUNDED_KERNEL(128, 4, root##_##suffix, const kiln::u64* info, const kiln::type* src, \
                      const kiln::type* kernel, kiln::type* dst) {                           \
    kiln::families::convolve_tiles<channels, outputs, teams>(info, src, kernel, dst);        \
  }
#define ROW(root, channels, outputs, teams, dtypes) \
  KILN_##dtypes(TILES, root, channels, outputs, teams)

KILN_EACH_CONV_TILES(ROW)
