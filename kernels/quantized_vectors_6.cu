// quantized: products of a matrix and five or six vectors of Q8_1.
#include "quantized_vectors.cuh"

#define FIVE_VECTORS(format, suffix, rows, vectors) KILN_MANY_VECTORS(format, suffix, 5)
#define SIX_VECTORS(format, suffix, rows, vectors) KILN_MANY_VECTORS(format, suffix, 6)
KILN_EACH_MUL_MAT(FIVE_VECTORS)
KILN_EACH_MUL_MAT(SIX_VECTORS)
