#include "runtime/src/check_image.hpp"

#include <utility>

#include "formats/image_head.hpp"

namespace kiln::runtime {

Result<void> check_image(std::span<const std::byte> image, const DeviceTarget& device) {
  Result<ImageHead> head = read_image_head(image);
  if (!head) {
    return std::move(head).error().hint(
        "build the image again, or copy it again: not all of it is there");
  }
  if (!head->target) return {};
  const Compatibility compatibility = can_run(*head->target, head->ptx_isa, device);
  if (compatibility) return {};
  return Error{ErrorCode::kNoImage, "the image does not run there: " + compatibility.reason, {}, {}}
      .hint("bring one that is built for " + wanted_targets(device.target));
}

}  // namespace kiln::runtime
