// What the sources of module cast share: how a row of tables/cast.hpp becomes a kernel.
#pragma once

#include "device/convert.cuh"
#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "tables/cast.hpp"

#define KILN_CAST(from, to)                                                   \
  KILN_ELEMENTWISE(                                                           \
      cast_##from##_##to, Brief, Rows,                                        \
      [](kiln::from x) { return kiln::device::convert<kiln::to>(x); }, (inp), \
      const kiln::from* inp, kiln::to* out)
