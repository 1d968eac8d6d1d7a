// Module fill: constants into contiguous and strided memory, copies of a matrix between row
// pitches, and names of our own: numbers in a row, transposes and slices. A row: root of the
// kernels' names, and their element types.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_FILL(row) row(fill, STORED)
#define KILN_EACH_CONST_SET(row) row(const_set, STORED)
#define KILN_EACH_COPY2D(row) row(copy2d, STORED)

// Names of our own.
#define KILN_EACH_ARANGE(row) row(arange, EVERY)
#define KILN_EACH_TRANSPOSE(row) row(transpose, STORED)
#define KILN_EACH_SLICE(row) row(slice, STORED)
