// cast: out[i] = D(inp[i]), for floats of four and eight bytes.
#include "cast.cuh"

KILN_EACH_CAST_FROM_FLOAT(KILN_CAST)
