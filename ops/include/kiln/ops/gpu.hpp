// The device that a launch is planned for.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/device.hpp"

namespace kiln::ops {

// What a plan needs to know about a device. The default is an NVIDIA H200.
//
// A launch planned for one device is correct on every other and differs only in speed. The
// exceptions are HalfMatrix (fused_products.hpp), HeldVectors (quantized.hpp), the MulMatVec, MulMat
// and FusedVector that use the latter or stream rows through shared memory, and a Convolution over
// copies (ConvolutionTiles::kChannelsLast). Their launches carry the shared memory and the threads
// that the kernel needs on the planned device, and fail on a device where it needs more.
struct Gpu {
  std::string_view target = "sm_90";  // its architecture; the text must outlive the Gpu
  std::uint32_t multiprocessors = 132;  // 0: unknown; plans assume the architecture's largest GPU
  std::uint32_t max_shared_bytes = 227 * 1024;  // per block

  // `info` must outlive the result.
  static Gpu of(const DeviceInfo& info) {
    return {info.target, info.multiprocessors, info.max_shared_bytes};
  }
};

}  // namespace kiln::ops
