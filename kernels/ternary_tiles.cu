// ternary: out[i] = ids[i] != 0 ? t[i] : f[i] for large views, kiln's own kernels. The bits of an
// element are copied unchanged.
#include "families/where_tiles.cuh"
#include "tables/ternary.hpp"

#define WHERE_TILES(suffix, type, condition)                                                      \
  KILN_BOUNDED_KERNEL(256, 8, where_tiles_##condition##_##suffix, const kiln::u64* info,          \
                      kiln::u32 out_down, kiln::u32 out_y, kiln::u32 out_z,                       \
                      const kiln::condition* ids, const kiln::type* t, const kiln::type* f,       \
                      kiln::type* out) {                                                          \
    using B = kiln::device::BitsOf<kiln::type>;                                                   \
    kiln::families::choose_tile(info, out_down, out_y, out_z, ids, reinterpret_cast<const B*>(t), \
                                reinterpret_cast<const B*>(f), reinterpret_cast<B*>(out));        \
  }
#define ROW(condition, dtypes) KILN_##dtypes(WHERE_TILES, condition)

KILN_EACH_TILED_WHERE(ROW)
