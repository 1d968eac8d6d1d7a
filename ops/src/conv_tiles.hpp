// Convolutions as products of matrices: launches of conv_tiles64_<T> and conv_tiles16_<T>.
#pragma once

#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/elementwise.hpp"
#include "kiln/ops/conv.hpp"

namespace kiln::ops {

// And what a thread reads of an output by itself, as it reads no more places of a dim than there are.
struct ConvolutionWork : tuning::ConvolveLoad {
  double read;

  // Whether the direct kernels make outputs by themselves.
  bool is_alone(const tuning::Spread& device) const {
    return channels == 1 || outputs <= tuning::kConvolveTiny ||
           (terms <= tuning::convolve_terms_alone(false) &&
            outputs * channels <= 1024.0 * device.multiprocessors);
  }
};
ConvolutionWork work_of(const Convolution& call, const Extents& out);

// The tiles that serve a convolution with outputs of these dims best; kNone where the direct
// kernels do.
ConvolutionTiles best_tiles(const Convolution& call, const Extents& out, const Gpu& gpu);

// Errors (kInvalidInput) say why the kernel of `call.tiles` does not take the call.
Result<Launch> plan_tiles(const Convolution& call, const Extents& out);

}  // namespace kiln::ops
