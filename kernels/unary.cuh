// Shared by the sources of module unary: makes a row of tables/unary.hpp a kernel.
#pragma once

#include "device/export.cuh"
#include "families/map.cuh"
#include "functors/apply.cuh"
#include "functors/unary.cuh"
#include "tables/unary.hpp"

// If `inp` is null, it reads out[i] instead.
#define KILN_UNARY_0(name, type, op, cost)                                             \
  KILN_MAP(name, cost, (kiln::functors::apply<kiln::functors::op, kiln::type>()), inp, \
           const kiln::type* inp, kiln::type* out)
#define KILN_UNARY_1(name, type, op, cost)                                                  \
  KILN_MAP(name, cost, (kiln::functors::apply<kiln::functors::op, kiln::type>(param)), inp, \
           kiln::type param, const kiln::type* inp, kiln::type* out)
#define KILN_UNARY_KERNEL(suffix, type, root, op, cost, scalars) \
  KILN_UNARY_##scalars(root##_##suffix, type, op, cost)
#define KILN_UNARY(root, op, dtypes, cost, scalars) \
  KILN_##dtypes(KILN_UNARY_KERNEL, root, op, cost, scalars)
