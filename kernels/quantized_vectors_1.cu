// quantized: products of a matrix and one vector of Q8_1.
#include "quantized_vectors.cuh"

#define ONE_VECTOR(format, suffix, rows, vectors) KILN_FEW_VECTORS(format, suffix, 1)
// Half of the code for formats of our own names, whose values take a table.
#define OWN_ONE_VECTOR(format, suffix)                                          \
  KILN_MUL_MAT_VEC(format, suffix, 1, (kiln::tuning::vector_blocks_held(1, 2)), \
                   KILN_LIST(mul_mat_vec<kiln::gguf::format, 1, true>))
KILN_EACH_MUL_MAT(ONE_VECTOR)
KILN_EACH_OWN_FORMAT(OWN_ONE_VECTOR)
