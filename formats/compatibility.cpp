#include "formats/compatibility.hpp"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

Compatibility refuse(std::string reason) {
  return {.fit = Fit::kNone, .closeness = 0, .reason = std::move(reason)};
}

Compatibility accept(Fit fit, std::uint32_t closeness = 0) {
  return {.fit = fit, .closeness = closeness, .reason = {}};
}

std::string differs(const TargetId& image, const TargetId& device) {
  return "built for " + to_string(image) + ", the device is " + to_string(device);
}

// Returns why a feature of the image excludes the device, or an empty string.
std::string feature_conflict(std::string_view name, Feature image, Feature device) {
  if (image == Feature::kAny || image == device) return {};
  const auto spell = [](Feature feature) { return feature == Feature::kOn ? "on" : "off"; };
  const std::string wants = "needs " + std::string(name) + " " + spell(image);
  if (device == Feature::kAny) return wants + ", which the device does not report";
  return wants + ", the device has it " + spell(device);
}

Compatibility amd_can_run(const TargetId& image, const TargetId& device) {
  const Processor* processor = find_processor(device.processor);
  const bool same = image.processor == device.processor;
  const bool family = !same && processor != nullptr && image.is_generic() &&
                      processor->generic_family == image.processor;
  if (!same && !family) {
    if (image.is_generic()) {
      return refuse("generic family " + image.processor + " does not include " + device.processor);
    }
    return refuse(differs(image, device));
  }
  for (const auto& [name, wanted, present] : {std::tuple{"sramecc", image.sramecc, device.sramecc},
                                              {"xnack", image.xnack, device.xnack}}) {
    if (std::string conflict = feature_conflict(name, wanted, present); !conflict.empty()) {
      return refuse(std::move(conflict));
    }
  }
  if (image == device) return accept(Fit::kExact);
  // The more features an image fixes, the more specific to this device it is.
  const auto fixed = static_cast<std::uint32_t>(image.sramecc != Feature::kAny) +
                     static_cast<std::uint32_t>(image.xnack != Feature::kAny);
  return accept(family ? Fit::kGeneric : Fit::kCompatible, fixed);
}

// The GPUs of Tegra: TX1, TX2, Xavier, Orin, and Thor with its old and its new number. Machine code
// does not run on both these and others. Source: "CUDA C++ Programming Guide", section Binary
// Compatibility.
bool is_tegra(int capability) {
  constexpr std::array kTegra = {53, 62, 72, 87, 101, 110};
  return std::ranges::find(kTegra, capability) != kTegra.end();
}

Compatibility nvidia_can_run(const TargetId& image, const TargetId& device) {
  const bool is_ptx = image.kind == TargetKind::kPtx;
  const int built = image.compute_capability();
  const int present = device.compute_capability();
  // Code for one chip or family is closer than plain code with the same number.
  const auto closeness =
      static_cast<std::uint32_t>(built) * 4 + (image.nvidia_suffix() == 'a'   ? 2U
                                               : image.nvidia_suffix() == 'f' ? 1U
                                                                              : 0U);
  const Fit equal = is_ptx ? Fit::kJit : Fit::kExact;
  const Fit older = is_ptx ? Fit::kJit : Fit::kCompatible;
  if (image.nvidia_suffix() == 'a') {
    if (built == present) return accept(equal, closeness);
    return refuse(image.processor + " runs on compute capability " + std::to_string(built / 10) +
                  "." + std::to_string(built % 10) + " alone, the device is " + device.processor);
  }
  if (image.nvidia_suffix() == 'f') {
    const NvidiaChip* from = find_nvidia_chip(built);
    const NvidiaChip* to = find_nvidia_chip(present);
    const bool family = from != nullptr && to != nullptr && from->family == to->family;
    if (family && built <= present) return accept(built == present ? equal : older, closeness);
    return refuse(image.processor +
                  " runs on its own family from its own number on, the device is " +
                  device.processor);
  }
  if (built > present) return refuse(differs(image, device) + ", which is older");
  if (!is_ptx && built / 10 != present / 10) {
    return refuse(differs(image, device) + ", of another major version");
  }
  if (!is_ptx && built != present && (is_tegra(built) || is_tegra(present))) {
    return refuse(differs(image, device) + "; Tegra's GPUs share no machine code with others");
  }
  return accept(built == present ? equal : older, closeness);
}

}  // namespace

Compatibility can_run(const TargetId& image, const TargetId& device) {
  if (image.kind == TargetKind::kAmd && device.kind == TargetKind::kAmd) {
    return amd_can_run(image, device);
  }
  const bool image_is_nvidia = image.kind == TargetKind::kCubin || image.kind == TargetKind::kPtx;
  if (image_is_nvidia && device.kind == TargetKind::kCubin) return nvidia_can_run(image, device);
  if (image.kind == TargetKind::kHost && device.kind == TargetKind::kHost) {
    if (image.wave64 == device.wave64) return accept(Fit::kExact);
    return refuse(differs(image, device) + ", with waves of another width");
  }
  return refuse(differs(image, device) + ", of another kind");
}

bool can_share_bundle(const TargetId& a, const TargetId& b) {
  if (a == b) return false;
  if (a.kind != TargetKind::kAmd || b.kind != TargetKind::kAmd) return true;
  if (a.processor != b.processor) return true;
  return (a.sramecc == Feature::kAny) == (b.sramecc == Feature::kAny) &&
         (a.xnack == Feature::kAny) == (b.xnack == Feature::kAny);
}

}  // namespace kiln
