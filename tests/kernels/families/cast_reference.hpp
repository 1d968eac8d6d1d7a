// The result of a conversion between any two element types: the contract of cast_<From>_<To>, also
// for pairs without such a kernel.
#pragma once

#include "tests/kernels/expected.hpp"

namespace kiln::conformance {

Expected cast_reference(DType from, DType to, Bits inp);

}  // namespace kiln::conformance
