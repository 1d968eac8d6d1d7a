// ternary: out[i] = ids[i] != 0 ? t[i] : f[i], bit by bit, for conditions without a sign.
#include "ternary.cuh"

KILN_EACH_UNSIGNED_WHERE(KILN_WHERE)
