// Decides which image runs on which device, by the rules of both vendors, from the two names alone.
//
// The relation is not symmetric: an image built for gfx90a runs on a device that is gfx90a:xnack+,
// but an image built for gfx90a:xnack+ does not run on every gfx90a.
//
//   AMD     the processor is equal, or the image is the generic family that lists the processor;
//           and each of sramecc and xnack is "any" in the image, or the same in both
//   cubin   same major compute capability, image's minor <= device's; 'a': equal; 'f': same family;
//           on Tegra, and from Tegra: equal
//   PTX     image's compute capability <= device's (the driver compiles it); 'a', 'f': as a cubin
//   host    same wave width
//
// Specs: LLVM, "User Guide for AMDGPU Backend", sections Generic Processor Versions and Code Object
// Target Identification; CUDA, "C++ Programming Guide", section Compatibility.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "formats/target_id.hpp"

namespace kiln {

// How well an image fits a device. A larger value is a better fit.
enum class Fit : std::uint8_t {
  kNone,        // does not run
  kJit,         // PTX: the driver compiles it at load time
  kGeneric,     // AMD: built for the processor's generic family
  kCompatible,  // machine code for an older or less specific device of the same kind
  kExact,       // built for exactly this device
};

struct Compatibility {
  Fit fit = Fit::kNone;
  // Orders two images of equal fit: a larger value is closer to the device.
  std::uint32_t closeness = 0;
  std::string reason;  // why it does not run (kNone): "built for gfx90a, the device is gfx908"

  explicit operator bool() const { return fit != Fit::kNone; }
};

// Tells whether an image built for `image` runs on `device`. Devices have the names that their
// drivers report: "gfx90a:sramecc+:xnack-", "sm_90", "host".
Compatibility can_run(const TargetId& image, const TargetId& device);

// True if an offload bundle or a fat binary may hold images for both targets. False if they are
// equal, or if they are the same AMD processor and only one of them sets a feature: a loader could
// not tell which image to take.
bool can_share_bundle(const TargetId& a, const TargetId& b);

}  // namespace kiln
