// sort: the elements of each row in ascending order.
#include "sort.cuh"

KILN_EACH_ASCENDING_SORT(KILN_SORT)
