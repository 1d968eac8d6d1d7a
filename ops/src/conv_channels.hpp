// Convolutions over copies whose channels lie side by side: launches of conv_channels_<T>.
#pragma once

#include "conv_description.hpp"
#include "kiln/ops/conv.hpp"
#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

// Both return an error (kInvalidInput) that says why the kernel does not take the call. The first
// returns the estimated time of all steps, in ns.
Result<double> channels_time(const Described& all, const Gpu& gpu);
Result<Launch> plan_channels(const Convolution& call, const Extents& out, const Gpu& gpu);

}  // namespace kiln::ops
