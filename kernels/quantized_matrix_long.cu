// quantized: products of a matrix of long blocks and many vectors.
#include "quantized_matrices.cuh"

KILN_EACH_LONG_MUL_MAT(KILN_MUL_MAT)
