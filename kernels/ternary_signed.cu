// ternary: out[i] = ids[i] != 0 ? t[i] : f[i], bit by bit, for conditions with a sign.
#include "ternary.cuh"

KILN_EACH_SIGNED_WHERE(KILN_WHERE)
