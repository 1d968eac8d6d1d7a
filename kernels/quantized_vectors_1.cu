// quantized: products of a matrix and one vector of Q8_1.
#include "quantized_vectors.cuh"

#define ONE_VECTOR(format, suffix, rows, vectors) KILN_FEW_VECTORS(format, suffix, 1)
// Formats that the ABI lacks look up values in a table. That adds code, so the kernels are brief.
#define OWN_ONE_VECTOR(format, suffix) KILN_HELD_VECTORS(format, suffix, 1, true)
KILN_EACH_MUL_MAT(ONE_VECTOR)
KILN_EACH_OWN_FORMAT(OWN_ONE_VECTOR)
