// reduce: reductions of rows by several blocks each.
#include "reductions.cuh"

KILN_EACH_REDUCTION(KILN_SPLIT)
