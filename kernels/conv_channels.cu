// conv: convolutions as products of matrices, over copies whose channels lie side by side.
#include "device/export.cuh"
#include "families/convolve_channels.cuh"
#include "tables/conv.hpp"

// name(info, src, kernel, dst, workspace, step)
#define CHANNELS(suffix, type, root)                                                             \
  KILN_BOUNDED_KERNEL(kiln::tuning::kChannelThreads, 2, root##_##suffix, const kiln::u64* info, \
                      const kiln::type* src, const kiln::type* kernel, kiln::type* dst,          \
                      kiln::u8* workspace, kiln::u32 step) {                                     \
    kiln::families::convolve_channels(info, src, kernel, dst, workspace, step);                  \
  }
#define ROW(root, dtypes) KILN_##dtypes(CHANNELS, root)

KILN_EACH_CONV_CHANNELS(ROW)
