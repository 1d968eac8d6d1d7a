// binary: out[i] = lhs[i] op rhs[i], for maximum and minimum.
#include "binary.cuh"

KILN_EACH_BINARY_EXTREME(KILN_BINARY)
KILN_EACH_BINARY_VARIANT(KILN_BINARY)
