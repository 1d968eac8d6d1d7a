// The plain loops that the host device is compared with.
#pragma once

#include <cstddef>

namespace kiln::bench {

// out[i] = in[i] * mul + add, fused, on `threads` threads. Compiled with -O3 for the same processor
// level as host images.
void plain_affine(const float* in, float* out, std::size_t count, float mul, float add,
                  unsigned threads);

}  // namespace kiln::bench
