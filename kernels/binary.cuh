// Shared by the sources of module binary: makes a row of tables/binary.hpp a kernel.
#pragma once

#include "device/export.cuh"
#include "families/elementwise.cuh"
#include "functors/apply.cuh"
#include "functors/binary.cuh"
#include "tables/binary.hpp"

#define KILN_OUT_Same(type) kiln::type
#define KILN_OUT_Truth(type) kiln::u8
#define KILN_BINARY_KERNEL(suffix, type, root, op, output)                                     \
  KILN_ELEMENTWISE(root##_##suffix, (kiln::functors::apply<kiln::functors::op, kiln::type>()), \
                   (lhs, rhs), const kiln::type* lhs, const kiln::type* rhs,                   \
                   KILN_OUT_##output(type) * out)
#define KILN_BINARY(root, op, dtypes, output) KILN_##dtypes(KILN_BINARY_KERNEL, root, op, output)
