// The first unit of the module `pair`.
#include "device/platform.cuh"

KILN_VARIABLE float gain = 2.0f;

KILN_KERNEL(256, nothing, ) {}
