// quantized: products of a matrix and two vectors of Q8_1.
#include "quantized_vectors.cuh"

#define TWO_VECTORS(format, suffix, rows, vectors) KILN_FEW_VECTORS(format, suffix, 2)
KILN_EACH_MUL_MAT(TWO_VECTORS)
