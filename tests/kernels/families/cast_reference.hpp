// What a conversion between any two element types gives: the contract of cast_<From>_<To>, for the
// pairs that have no such kernel, too.
#pragma once

#include "tests/kernels/expected.hpp"

namespace kiln::conformance {

Expected cast_reference(DType from, DType to, Bits inp);

}  // namespace kiln::conformance
