// Module affine: out[i] = inp[i] * mul + add. A row is as in tables/unary.hpp.
#pragma once

#include "dtypes.hpp"

#define KILN_EACH_AFFINE(row) row(affine, Affine, EVERY, Brief, 2)
