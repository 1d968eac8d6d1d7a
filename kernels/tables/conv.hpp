// Module conv. A row: root of the kernels' names, functor if there are several, and element types
// (tables/dtypes.hpp). The family determines the types of a kernel's parameters.
#pragma once

#include "dtypes.hpp"

// families/convolve.cuh: outputs of one class, or of a transposed convolution.
#define KILN_EACH_CONV1D(row) row(conv1d, ARITHMETIC)
#define KILN_EACH_CONV2D(row) row(conv2d, ARITHMETIC)
#define KILN_EACH_CONV_TRANSPOSE1D(row) row(conv_transpose1d, ARITHMETIC)
#define KILN_EACH_CONV_TRANSPOSE2D(row) row(conv_transpose2d, ARITHMETIC)

// families/convolve_tiles.cuh, kiln's own kernels: output channels and outputs of a tile, and teams
// of a block.
#define KILN_EACH_CONV_TILES(row)          \
  row(conv_tiles64, 64, 64, 1, MULTIPLIED) \
  row(conv_tiles16, 16, 32, 4, MULTIPLIED)

// families/convolve_patches.cuh, kiln's own kernels: output channels of a tile.
#define KILN_EACH_CONV_PATCHES(row) row(conv_patches64, 64, HALVES) row(conv_patches16, 16, HALVES)

// families/convolve_channels.cuh, kiln's own kernels.
#define KILN_EACH_CONV_CHANNELS(row) row(conv_channels, HALVES)

// families/im2col.cuh
#define KILN_EACH_IM2COL1D(row) row(im2col1d, ARITHMETIC)
#define KILN_EACH_IM2COL(row) row(im2col, ARITHMETIC)
#define KILN_EACH_COL2IM1D(row) row(col2im1d, ARITHMETIC)

// functors/window.cuh: the reduction of a window.
#define KILN_EACH_POOL2D(row) row(avg_pool2d, Mean, ARITHMETIC) row(max_pool2d, Largest, ARITHMETIC)

// families/upsample.cuh. The kernels of one dim are kiln's own.
#define KILN_EACH_UPSAMPLE_NEAREST1D(row) row(upsample_nearest1d, ARITHMETIC)
#define KILN_EACH_UPSAMPLE_NEAREST2D(row) row(upsample_nearest2d, ARITHMETIC)
#define KILN_EACH_UPSAMPLE_BILINEAR2D(row) row(upsample_bilinear2d, ARITHMETIC)
