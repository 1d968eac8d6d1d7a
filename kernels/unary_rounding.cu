// unary: out[i] = op(inp[i]), for rounding and the sign.
#include "unary.cuh"

KILN_EACH_UNARY_ROUNDING(KILN_UNARY)
KILN_EACH_UNARY_VARIANT(KILN_UNARY)
