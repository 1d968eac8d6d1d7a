// binary: out[i] = lhs[i] op rhs[i], for products.
#include "binary.cuh"

KILN_EACH_BINARY_PRODUCT(KILN_BINARY)
