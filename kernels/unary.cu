// unary: out[i] = op(inp[i]), for arithmetic.
#include "unary.cuh"

KILN_EACH_UNARY_ARITHMETIC(KILN_UNARY)
