// What the sources of module ternary share: how a row of tables/ternary.hpp becomes a kernel.
#pragma once

#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "tables/ternary.hpp"

#define KILN_WHERE_KERNEL(suffix, type, condition)                                   \
  KILN_ELEMENTWISE(                                                                  \
      where_##condition##_##suffix, Brief, Rows,                                     \
      [](kiln::condition c, auto x, auto y) { return c != 0 ? x : y; }, (ids, t, f), \
      const kiln::condition* ids, const kiln::type* t, const kiln::type* f, kiln::type* out)
#define KILN_WHERE(condition, dtypes) KILN_##dtypes(KILN_WHERE_KERNEL, condition)
