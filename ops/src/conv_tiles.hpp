// Convolutions as matrix products: launches of conv_tiles64_<T>, conv_tiles16_<T>,
// conv_patches64_<T> and conv_patches16_<T>.
#pragma once

#include "kernels/tuning/convolve.hpp"
#include "kernels/tuning/elementwise.hpp"
#include "kiln/ops/conv.hpp"

namespace kiln::ops {

// Adds `read`: the number of elements that a thread reads for an output of its own. In each dim, it
// reads at most as many places as the image has.
struct ConvolutionWork : tuning::ConvolveLoad {
  double read;

  // True if the direct kernels compute each output independently of the others.
  bool single_occupancy(const tuning::Spread& device) const {
    return channels == 1 || outputs <= tuning::kConvolveTiny ||
           (terms <= tuning::convolve_terms_alone(false) &&
            outputs * channels <= 1024.0 * device.multiprocessors);
  }
};
ConvolutionWork work_of(const Convolution& call, const Extents& out);

// Returns the way that is fastest for a convolution with outputs of these dims: kNone if the direct
// kernels are, kChannelsLast if those of conv_channels.hpp are.
ConvolutionTiles best_tiles(const Convolution& call, const Extents& out, const Gpu& gpu);

// The error (kInvalidInput) says why the kernel of `call.tiles` does not take the call.
Result<Launch> plan_tiles(const Convolution& call, const Extents& out);

}  // namespace kiln::ops
