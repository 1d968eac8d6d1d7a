// binary: out[i] = lhs[i] op rhs[i], for sums and differences.
#include "binary.cuh"

KILN_EACH_BINARY_SUM(KILN_BINARY)
