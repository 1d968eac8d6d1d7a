// Which image runs on which device: the rules of both vendors, as pure functions of two names.
//
// The question has a direction: an image built for gfx90a runs on a device that is gfx90a:xnack+,
// an image built for gfx90a:xnack+ does not run on every gfx90a. Equality of names is the smallest
// part.
//
//   AMD     the processor is equal, or the image is the generic family that lists the processor;
//           and each of sramecc and xnack is "any" in the image, or the same in both
//   cubin   same major compute capability, image's minor <= device's; 'a': equal; 'f': same family
//   PTX     image's compute capability <= device's (the driver compiles it); 'a', 'f': as a cubin
//   host    same width of a wave
//
// Specs: LLVM, "User Guide for AMDGPU Backend", sections Generic Processor Versions and Code Object
// Target Identification; CUDA, "C++ Programming Guide", section Compatibility.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "formats/target_id.hpp"

namespace kiln {

// How well an image fits a device; a larger value is a better fit.
enum class Fit : std::uint8_t {
  kNone,        // does not run
  kJit,         // PTX: the driver compiles it at load time
  kGeneric,     // AMD: built for the processor's generic family
  kCompatible,  // machine code for an older or less particular device of the same kind
  kExact,       // built for exactly this device
};

struct Compatibility {
  Fit fit = Fit::kNone;
  // Orders two images of equal fit: a larger value is closer to the device.
  std::uint32_t closeness = 0;
  std::string reason;  // for kNone: why not, "built for gfx90a, the device is gfx908"

  explicit operator bool() const { return fit != Fit::kNone; }
};

// Whether an image built for `image` runs on `device`. A device is named the way its driver names
// it: "gfx90a:sramecc+:xnack-", "sm_90", "host".
Compatibility can_run(const TargetId& image, const TargetId& device);

// Whether one offload bundle, or one fat binary, may hold images of both targets. Not when they are
// equal, nor when they are one AMD processor of which one leaves open a feature that the other
// sets: a loader could not tell which of the two to take.
bool can_share_bundle(const TargetId& a, const TargetId& b);

}  // namespace kiln
