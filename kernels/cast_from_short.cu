// cast: out[i] = D(inp[i]), for floats of one and two bytes.
#include "cast.cuh"

KILN_EACH_CAST_FROM_SHORT(KILN_CAST)
