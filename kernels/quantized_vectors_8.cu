// quantized: products of a matrix and seven or eight vectors of Q8_1.
#include "quantized_vectors.cuh"

#define SEVEN_VECTORS(format, suffix, rows, vectors) KILN_MANY_VECTORS(format, suffix, 7)
#define EIGHT_VECTORS(format, suffix, rows, vectors) KILN_MANY_VECTORS(format, suffix, 8)
KILN_EACH_MUL_MAT(SEVEN_VECTORS)
KILN_EACH_MUL_MAT(EIGHT_VECTORS)
