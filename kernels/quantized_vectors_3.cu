// quantized: products of a matrix and three vectors of Q8_1.
#include "quantized_vectors.cuh"

#define THREE_VECTORS(format, suffix, rows, vectors) KILN_FEW_VECTORS(format, suffix, 3)
KILN_EACH_MUL_MAT(THREE_VECTORS)
