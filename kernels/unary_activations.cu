// unary: out[i] = op(inp[i]), for activations.
#include "unary.cuh"

KILN_EACH_UNARY_ACTIVATION(KILN_UNARY)
