// The result of each unary operation, in plain C++, and its permitted error.
#pragma once

#include <functional>

#include "kiln/ops/unary.hpp"
#include "tests/kernels/expected.hpp"

namespace kiln::conformance {

// Returns the permitted results of an operation on one element, for any input.
Expected unary_reference(ops::UnaryOp op, DType dtype, Bits inp, Bits parameter);

// Returns the exact result before any rounding, for the tests of the references.
Real unary_exact(ops::UnaryOp op, Real inp, Real parameter);

}  // namespace kiln::conformance
