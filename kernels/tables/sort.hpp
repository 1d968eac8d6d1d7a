// Module sort. A row: root of the kernels' names, element types (tables/dtypes.hpp), and true for
// descending order.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_ASCENDING_ARGSORT(row) row(asort_asc, NUMBERS, false)
#define KILN_EACH_DESCENDING_ARGSORT(row) row(asort_desc, NUMBERS, true)
#define KILN_EACH_ARGSORT(row) KILN_EACH_ASCENDING_ARGSORT(row) KILN_EACH_DESCENDING_ARGSORT(row)

// kiln's own kernels: the elements themselves, in the same order.
#define KILN_EACH_ASCENDING_SORT(row) row(sort_asc, NUMBERS, false)
#define KILN_EACH_DESCENDING_SORT(row) row(sort_desc, NUMBERS, true)
#define KILN_EACH_SORT(row) KILN_EACH_ASCENDING_SORT(row) KILN_EACH_DESCENDING_SORT(row)

// The same for rows that several blocks share: columns or elements, in either order.
#define KILN_EACH_SORT_LONG(row) row(sort_long, NUMBERS)
