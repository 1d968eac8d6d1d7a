// Which image of a module a device gets: pure, from names and numbers alone.
//
// Exact before compatible machine code, before a generic family's, before PTX, before the source
// that the runtime may compile; among equals the one that is closest to the device, then the first
// in the catalog. The rules of what runs where are in formats/compatibility.hpp; the driver's limit
// on PTX is applied here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/compatibility.hpp"
#include "formats/target_id.hpp"
#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

struct DeviceTarget {
  TargetId target;
  std::uint16_t max_ptx_isa = 0;  // 10 * major + minor; 0: not limited
};

// As formats/compatibility.hpp has it, and by the driver's limit on PTX.
Compatibility can_run(const TargetId& image, std::uint16_t ptx_isa, const DeviceTarget& device);

// What to build for a device, as a hint spells it: "'gfx1103' or 'gfx11-generic'".
std::string wanted_targets(const TargetId& device);

struct Refusal {
  std::string image;   // its target, or the path of a file
  std::string reason;  // "built for sm_80, the device is sm_90, of another major version"
};

// What a refusal calls the source of a module, which no compiler took.
inline constexpr std::string_view kSourceOfModule = "source";

struct Selection {
  const ImageEntry* image = nullptr;   // null: nothing fits
  const ImageEntry* source = nullptr;  // what the unit is compiled from, where the module holds it
  Fit fit = Fit::kNone;
  std::vector<Refusal> refusals;  // in the catalog's order
};

// The best image of one unit.
Selection select_image(ArrayView<ImageEntry> images, std::uint16_t unit,
                       const DeviceTarget& device);

// kNoImage: what the device is, why each image was refused, and what to add to the manifest.
// `device_name` is as a message shows the device: "cuda:0 (NVIDIA H200, sm_90)".
Error no_image(const Selection& selection, std::string_view module, const DeviceTarget& device,
               std::string_view device_name);

std::string_view to_string(Fit fit);  // "exact", "compatible", "generic", "PTX"

}  // namespace kiln::runtime
