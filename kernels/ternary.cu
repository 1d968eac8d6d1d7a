// ternary: out[i] = ids[i] != 0 ? t[i] : f[i], bit by bit.
#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "tables/ternary.hpp"

#define KERNEL(suffix, type, condition)                                              \
  KILN_ELEMENTWISE(                                                                  \
      where_##condition##_##suffix, Brief, Rows,                                     \
      [](kiln::condition c, auto x, auto y) { return c != 0 ? x : y; }, (ids, t, f), \
      const kiln::condition* ids, const kiln::type* t, const kiln::type* f, kiln::type* out)
#define ROW(condition, dtypes) KILN_##dtypes(KERNEL, condition)

KILN_EACH_WHERE(ROW)
