// What a launch helper must know of the device that it plans for.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/device.hpp"

namespace kiln::ops {

// The default is an NVIDIA H200. Every launch is right on every device; only speed differs.
struct Gpu {
  std::string_view target = "sm_90";  // its architecture; a literal, or outlives the Gpu
  std::uint32_t multiprocessors = 132;

  static Gpu of(const DeviceInfo& info) { return {info.target, info.multiprocessors}; }
};

}  // namespace kiln::ops
