// binary: out[i] = lhs[i] op rhs[i], for quotients.
#include "binary.cuh"

KILN_EACH_BINARY_QUOTIENT(KILN_BINARY)
