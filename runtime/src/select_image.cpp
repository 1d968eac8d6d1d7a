#include "runtime/src/select_image.hpp"
#include "formats/ptx_isa.hpp"

#include <algorithm>
#include <tuple>
#include <utility>


namespace kiln::runtime {
namespace {

std::string spell_version(int tenfold) {
  return std::to_string(tenfold / 10) + "." + std::to_string(tenfold % 10);
}

Compatibility check(const ImageEntry& image, const DeviceTarget& device) {
  const Result<TargetId> target = parse_target_id(image.target);
  if (!target) return {.fit = Fit::kNone, .closeness = 0, .reason = target.error().message};
  return can_run_with_driver(*target, image.ptx_isa, device);
}

// CUDA 13 builds for this compute capability and newer ones. Source: CUDA 13.0 release notes.
constexpr int kOldestOfNewToolkits = 75;

// Returns the name, for hints, of the compiler that can compile a source for the device.
std::string wanted_compiler(const TargetId& device) {
  switch (device.kind) {
    case TargetKind::kHost: return "install a C++ compiler, or name one in KILN_CXX";
    case TargetKind::kAmd: return "hipRTC compiles it (KILN_HIPRTC_LIBRARY)";
    case TargetKind::kCubin:
    case TargetKind::kPtx: break;
  }
  return "NVRTC compiles it (KILN_NVRTC_LIBRARY)";
}

}  // namespace

Compatibility can_run_with_driver(const TargetId& image, std::uint16_t ptx_isa,
                                  const DeviceTarget& device) {
  Compatibility compatibility = can_run(image, device.target);
  const std::optional<std::uint16_t> limit = device.max_ptx_isa;
  if (compatibility.fit != Fit::kJit || !limit || ptx_isa <= *limit) return compatibility;
  std::string reason = "is PTX ISA " + spell_version(ptx_isa) + ", the driver takes " +
                       (*limit == 0 ? "none that kiln knows" : "up to " + spell_version(*limit));
  if (const int cuda = cuda_of_ptx_isa(ptx_isa); cuda != 0) {
    reason += "; that of CUDA " + spell_version(cuda / 100) + " takes it";
  }
  return {.fit = Fit::kNone, .closeness = 0, .reason = std::move(reason)};
}

Selection select_image(ArrayView<ImageEntry> images, std::uint16_t unit,
                       const DeviceTarget& device) {
  Selection selection;
  std::uint32_t closeness = 0;
  for (const ImageEntry& image : images) {
    if (image.unit != unit) continue;
    if (image.format == ImageFormat::kSource) {
      selection.source = &image;
      continue;
    }
    Compatibility compatibility = check(image, device);
    if (compatibility.fit == Fit::kNone) {
      selection.refusals.push_back({std::string(image.target), std::move(compatibility.reason)});
    } else if (selection.image == nullptr || std::tie(compatibility.fit, compatibility.closeness) >
                                                 std::tie(selection.fit, closeness)) {
      selection.image = &image;
      selection.fit = compatibility.fit;
      closeness = compatibility.closeness;
    }
  }
  return selection;
}

Error no_image(const Selection& selection, std::string_view module, const DeviceTarget& device,
               std::string_view device_name) {
  Error error{
      ErrorCode::kNoImage,
      "no image of module '" + std::string(module) + "' runs on " + std::string(device_name),
      {},
      {}};
  for (const Refusal& refusal : selection.refusals) {
    error.note("image '" + refusal.image + "': " + refusal.reason);
  }
  if (selection.refusals.empty()) error.note("the module holds no image at all");

  // The program was built with its sources instead of images.
  const bool has_only_source =
      selection.source != nullptr &&
      std::all_of(selection.refusals.begin(), selection.refusals.end(),
                  [](const Refusal& refusal) { return refusal.image == kSourceOfModule; });
  if (has_only_source) {
    error.hint("the module holds its source and no image: " + wanted_compiler(device.target) +
               ", or build with --embed-source=beside for " + wanted_targets(device.target));
    return error;
  }
  std::string hint = "add " + wanted_targets(device.target) + " to the targets of module '" +
                     std::string(module) + "' in the manifest and build again";
  if (device.target.kind == TargetKind::kHost) {
    hint += "; it takes no plain CUDA: see docs/HOST.md of kiln";
  }
  error.hint(std::move(hint));
  return error;
}

std::string wanted_targets(const TargetId& device) {
  if (device.kind == TargetKind::kHost) return "'" + to_string(device) + "'";
  std::string wanted = "'" + device.processor + "'";
  const Processor* processor = find_processor(device.processor);
  if (processor != nullptr && !processor->generic_family.empty()) {
    wanted += " or '" + std::string(processor->generic_family) + "'";
  }
  const int capability = device.compute_capability();
  if (capability != 0 && capability < kOldestOfNewToolkits) {
    wanted += ", which takes the nvcc of CUDA 12 or older,";
  }
  return wanted;
}

std::string_view to_string(Fit fit) {
  switch (fit) {
    case Fit::kNone: return "none";
    case Fit::kJit: return "PTX";
    case Fit::kGeneric: return "generic";
    case Fit::kCompatible: return "compatible";
    case Fit::kExact: return "exact";
  }
  return "none";
}

}  // namespace kiln::runtime
