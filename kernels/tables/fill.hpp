// Module fill: constants into contiguous and strided memory, and copies of a matrix between row
// pitches. A row: root of the kernels' names, and their element types.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_FILL(row) row(fill, STORED)
#define KILN_EACH_CONST_SET(row) row(const_set, STORED)
#define KILN_EACH_COPY2D(row) row(copy2d, STORED)
