// sort: the order of the elements of each row, ascending.
#include "sort.cuh"

KILN_EACH_ASCENDING_ARGSORT(KILN_ARGSORT)
