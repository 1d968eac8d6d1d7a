#include "runtime/src/select_image.hpp"

#include <tuple>

namespace kiln::runtime {
namespace {

std::string spell_isa(std::uint16_t isa) {
  return std::to_string(isa / 10) + "." + std::to_string(isa % 10);
}

Compatibility check(const ImageEntry& image, const DeviceTarget& device) {
  const Result<TargetId> target = parse_target_id(image.target);
  if (!target) return {.fit = Fit::kNone, .closeness = 0, .reason = target.error().message};
  Compatibility answer = can_run(*target, device.target);
  if (answer.fit == Fit::kJit && device.max_ptx_isa != 0 && image.ptx_isa > device.max_ptx_isa) {
    return {.fit = Fit::kNone,
            .closeness = 0,
            .reason = "is PTX ISA " + spell_isa(image.ptx_isa) + ", the driver takes up to " +
                      spell_isa(device.max_ptx_isa)};
  }
  return answer;
}

}  // namespace

Selection select_image(ArrayView<ImageEntry> images, std::uint16_t unit,
                       const DeviceTarget& device) {
  Selection selection;
  std::uint32_t closeness = 0;
  for (const ImageEntry& image : images) {
    if (image.unit != unit) continue;
    Compatibility answer = check(image, device);
    if (answer.fit == Fit::kNone) {
      selection.refusals.push_back({image.target, std::move(answer.reason)});
    } else if (selection.image == nullptr ||
               std::tie(answer.fit, answer.closeness) > std::tie(selection.fit, closeness)) {
      selection.image = &image;
      selection.fit = answer.fit;
      closeness = answer.closeness;
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
    error.note("image '" + std::string(refusal.target) + "': " + refusal.reason);
  }
  if (selection.refusals.empty()) error.note("the module holds no image at all");

  std::string add = "add '" + (device.target.kind == TargetKind::kHost ? to_string(device.target)
                                                                       : device.target.processor);
  const Processor* processor = find_processor(device.target.processor);
  if (processor != nullptr && !processor->generic_family.empty()) {
    add += "' or '" + std::string(processor->generic_family);
  }
  error.hint(add + "' to the targets of the manifest and build again");
  return error;
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
