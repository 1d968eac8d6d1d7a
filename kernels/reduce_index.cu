// reduce: reductions of the last dim of a view to an index.
#include "reductions.cuh"

KILN_EACH_INDEX_REDUCTION(KILN_REDUCTION)
