// Selects the image of a module for a device, from names and numbers alone.
//
// Exact machine code is preferred to compatible code, then comes code for a generic family, then
// PTX, then the source that the runtime may compile. Among equals, the image closest to the device
// wins, then the first in the catalog. formats/compatibility.hpp has the rules of what runs where.
// The driver's limit on PTX is applied here.
#pragma once

#include <cstdint>
#include <optional>
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
  std::optional<std::uint16_t> max_ptx_isa;  // as in DeviceInfo
};

// Applies the rules of formats/compatibility.hpp and the driver's limit on PTX.
Compatibility can_run_with_driver(const TargetId& image, std::uint16_t ptx_isa,
                                  const DeviceTarget& device);

// Returns the targets to build for a device, as used in hints: "'gfx1103' or 'gfx11-generic'".
std::string wanted_targets(const TargetId& device);

struct Refusal {
  std::string image;   // the image's target, or the path of a file
  std::string reason;  // "built for sm_80, the device is sm_90, of another major version"
};

// Name of a module's source in a refusal, if no compiler accepts it.
inline constexpr std::string_view kSourceOfModule = "source";

struct Selection {
  const ImageEntry* image = nullptr;   // null if nothing fits
  const ImageEntry* source = nullptr;  // the source of the unit, if the module holds it
  Fit fit = Fit::kNone;
  std::vector<Refusal> refusals;  // in the order of the catalog
};

// Selects the best image of one unit.
Selection select_image(ArrayView<ImageEntry> images, std::uint16_t unit,
                       const DeviceTarget& device);

// Returns the error kNoImage: describes the device, why each image was refused, and what to add to
// the manifest. `device_name` is the device's name for messages: "cuda:0 (NVIDIA H200, sm_90)".
Error no_image(const Selection& selection, std::string_view module, const DeviceTarget& device,
               std::string_view device_name);

std::string_view to_string(Fit fit);  // "exact", "compatible", "generic", "PTX"

}  // namespace kiln::runtime
