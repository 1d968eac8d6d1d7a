// reduce: reductions of the last dims of a view to a value.
#include "reductions.cuh"

KILN_EACH_VALUE_REDUCTION(KILN_REDUCTION)
