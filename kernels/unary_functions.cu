// unary: out[i] = op(inp[i]), for functions.
#include "unary.cuh"

KILN_EACH_UNARY_FUNCTION(KILN_UNARY)
