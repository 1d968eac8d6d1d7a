// binary: out[i] = lhs[i] op rhs[i], for products and quotients.
#include "binary.cuh"

KILN_EACH_BINARY_PRODUCT(KILN_BINARY)
