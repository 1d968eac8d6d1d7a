// What a launch helper must know of the device that it plans for.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/device.hpp"

namespace kiln::ops {

// The default is an NVIDIA H200. Every launch is right on every device, and only speed differs;
// but one of HalfMatrix (fused_products.hpp), of rows that stream, or of vectors that threads hold
// (quantized.hpp), brings the shared memory and the threads that its kernel takes on this device, and
// fails on another that wants more.
struct Gpu {
  std::string_view target = "sm_90";  // its architecture; a literal, or outlives the Gpu
  std::uint32_t multiprocessors = 132;
  std::uint32_t max_shared_bytes = 227 * 1024;  // of a block

  static Gpu of(const DeviceInfo& info) {
    return {info.target, info.multiprocessors, info.max_shared_bytes};
  }
};

}  // namespace kiln::ops
