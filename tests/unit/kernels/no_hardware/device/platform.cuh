// A platform without its own conversions: only what device/dtypes.cuh needs.
#pragma once

#include "device/types.cuh"

#define KILN_DEVICE inline
#define KILN_HAS_F16_CONVERSION 0
#define KILN_HAS_BF16_CONVERSION 0
#define KILN_HAS_PAIR_CONVERSION 0
