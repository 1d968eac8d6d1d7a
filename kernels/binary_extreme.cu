// binary: out[i] = lhs[i] op rhs[i], for the larger and the smaller.
#include "binary.cuh"

KILN_EACH_BINARY_EXTREME(KILN_BINARY)
KILN_EACH_BINARY_VARIANT(KILN_BINARY)
