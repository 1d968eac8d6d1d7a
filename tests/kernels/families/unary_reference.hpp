// What each unary operation computes, in plain C++, and how exactly.
#pragma once

#include <functional>

#include "kiln/ops/unary.hpp"
#include "tests/kernels/expected.hpp"

namespace kiln::conformance {

// The contract of an operation on one element, for any input.
Expected unary_reference(ops::UnaryOp op, DType dtype, Bits inp, Bits parameter);

// The exact result before any rounding, for the tests of the references.
Real unary_exact(ops::UnaryOp op, Real inp, Real parameter);

}  // namespace kiln::conformance
