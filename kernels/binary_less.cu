// binary: out[i] = lhs[i] op rhs[i], for less, and less or equal.
#include "binary.cuh"

KILN_EACH_BINARY_LESS(KILN_BINARY)
