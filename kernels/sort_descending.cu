// sort: the order of the elements of each row, descending.
#include "sort.cuh"

KILN_EACH_DESCENDING_ARGSORT(KILN_ARGSORT)
