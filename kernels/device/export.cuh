// Helpers by which a row of a table becomes an exported kernel. Parameters stand in the order of
// kernels/abi.json.
#pragma once

#include "device/arithmetic.cuh"
#include "device/dtypes.cuh"
#include "device/platform.cuh"

#define KILN_LIST(...) __VA_ARGS__
