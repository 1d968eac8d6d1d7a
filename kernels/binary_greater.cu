// binary: out[i] = lhs[i] op rhs[i], for greater, and greater or equal.
#include "binary.cuh"

KILN_EACH_BINARY_GREATER(KILN_BINARY)
