// cast: out[i] = D(inp[i]), for integers.
#include "cast.cuh"

KILN_EACH_CAST_FROM_INTEGER(KILN_CAST)
