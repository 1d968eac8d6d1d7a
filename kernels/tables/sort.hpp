// Module sort. A row: root of the kernels' names, element types (tables/dtypes.hpp), and whether
// the order is descending.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_ASCENDING_ARGSORT(row) row(asort_asc, NUMBERS, false)
#define KILN_EACH_DESCENDING_ARGSORT(row) row(asort_desc, NUMBERS, true)
#define KILN_EACH_ARGSORT(row) KILN_EACH_ASCENDING_ARGSORT(row) KILN_EACH_DESCENDING_ARGSORT(row)

// Names of our own: the elements themselves, in the same order.
#define KILN_EACH_ASCENDING_SORT(row) row(sort_asc, NUMBERS, false)
#define KILN_EACH_DESCENDING_SORT(row) row(sort_desc, NUMBERS, true)
#define KILN_EACH_SORT(row) KILN_EACH_ASCENDING_SORT(row) KILN_EACH_DESCENDING_SORT(row)

// The same of rows that several blocks share: columns or elements, in either order.
#define KILN_EACH_SORT_LONG(row) row(sort_long, NUMBERS)
