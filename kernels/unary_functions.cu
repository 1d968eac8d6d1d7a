// unary: out[i] = op(inp[i]), for the functions.
#include "unary.cuh"

KILN_EACH_UNARY_FUNCTION(KILN_UNARY)
