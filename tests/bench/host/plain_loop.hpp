// The loops that the host device is measured against: what a programmer writes who has no kernels.
#pragma once

#include <cstddef>

namespace kiln::bench {

// out[i] = in[i] * mul + add, fused, on `threads` threads. Compiled with -O3 for the processor that
// host images are compiled for.
void plain_affine(const float* in, float* out, std::size_t count, float mul, float add,
                  unsigned threads);

}  // namespace kiln::bench
