// binary: out[i] = lhs[i] op rhs[i], for equal and unequal.
#include "binary.cuh"

KILN_EACH_BINARY_EQUAL(KILN_BINARY)
