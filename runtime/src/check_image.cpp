#include "runtime/src/check_image.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/image_head.hpp"

namespace kiln::runtime {

namespace {

// Returns why the image does not run on the device, or an empty string.
std::string refusal(const ImageHead& head, const DeviceTarget& device) {
  if (head.target) return can_run_with_driver(*head.target, head.ptx_isa, device).reason;
  if (head.entries.empty() || head.has_unknown_entries) return {};
  std::vector<std::string> names;
  for (const TargetId& entry : head.entries) {
    if (can_run(entry, device.target)) return {};
    names.push_back(to_string(entry));
  }
  return "built for " + join(names, ", ") + ", the device is " + to_string(device.target);
}

}  // namespace

Result<void> check_image(std::span<const std::byte> image, const DeviceTarget& device) {
  Result<ImageHead> head = read_image_head(image);
  if (!head) {
    return std::move(head).error().hint(
        "build the image again, or copy it again: not all of it is there");
  }
  const std::string reason = refusal(*head, device);
  if (reason.empty()) return {};
  return Error{ErrorCode::kNoImage, "the image does not run there: " + reason, {}, {}}.hint(
      "bring one that is built for " + wanted_targets(device.target));
}

}  // namespace kiln::runtime
