// Convolutions as products of matrices: launches of conv_tiles64_<T> and conv_tiles16_<T>.
#pragma once

#include "kiln/ops/conv.hpp"

namespace kiln::ops {

// The tiles that serve a convolution with outputs of these dims best; kNone where the direct
// kernels do.
ConvolutionTiles best_tiles(const Convolution& call, const Extents& out, const Gpu& gpu);

// Errors (kInvalidInput) say why the kernel of `call.tiles` does not take the call.
Result<Launch> plan_tiles(const Convolution& call, const Extents& out);

}  // namespace kiln::ops
