// unary: out[i] = op(inp[i]), for the error function and what is computed from it.
#include "unary.cuh"

KILN_EACH_UNARY_ERROR(KILN_UNARY)
