// quantized: products of a matrix of short blocks and many vectors.
#include "quantized_matrices.cuh"

KILN_EACH_SHORT_MUL_MAT(KILN_MUL_MAT)
