// What tiles and patches of convolutions share: how a block finds its class of outputs.
#pragma once

#include "device/platform.cuh"
#include "tuning/convolve.hpp"

namespace kiln::families {

using namespace device;

// Runs the convolution of the block's class. `info` has the shape and the axes
// (tuning/convolve.hpp). The grid's z counts the classes, column classes innermost.
template <class Convolution, class T>
KILN_DEVICE void convolve_class(const u64* info, const T* src, const T* kernel, T* dst) {
  using tuning::ConvolveAxis;
  using tuning::ConvolveShape;
  const ConvolveShape& shape = *reinterpret_cast<const ConvolveShape*>(info);
  const ConvolveAxis* const axes = reinterpret_cast<const ConvolveAxis*>(&shape + 1);
  const u32 row_class = block_index_z() / shape.column_classes;
  const u32 column_class = block_index_z() - row_class * shape.column_classes;
  if (row_class >= shape.row_classes) return;
  Convolution::run(shape, axes[row_class], axes[shape.row_classes + column_class], src, kernel,
                   dst);
}

}  // namespace kiln::families
