// quantized: products of a matrix and four vectors of Q8_1.
#include "quantized_vectors.cuh"

#define FOUR_VECTORS(format, suffix, rows, vectors) KILN_FEW_VECTORS(format, suffix, 4)
KILN_EACH_MUL_MAT(FOUR_VECTORS)
