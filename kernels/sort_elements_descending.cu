// sort: the elements of each row in descending order.
#include "sort.cuh"

KILN_EACH_DESCENDING_SORT(KILN_SORT)
