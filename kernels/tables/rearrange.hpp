// Module rearrange, kiln's own kernels: ranges of numbers, transposes and slices. A row: root of
// the kernels' names, and their element types.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_ARANGE(row) row(arange, EVERY)
#define KILN_EACH_TRANSPOSE(row) row(transpose, STORED)
#define KILN_EACH_SLICE(row) row(slice, STORED)
