// What a device that knows its buffers says of a copy that ends outside of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kiln/result.hpp"

namespace kiln::runtime {

// `room`: the bytes from the copy's first one to the end of the buffer that holds it; none where no buffer
// does, as of the variables of images. `direction`: "to" or "from". Errors: kInvalidInput.
inline Result<void> check_copy_room(const char* direction, const void* address,
                                    std::optional<std::uint64_t> room, std::size_t bytes) {
  if (bytes == 0 || (address != nullptr && (!room || bytes <= *room))) return {};
  const std::string where = address == nullptr ? "a null pointer"
                                               : "a buffer that has " + std::to_string(*room) + " from there on";
  return Error{ErrorCode::kInvalidInput,
               "copying " + std::to_string(bytes) + " bytes " + direction + " " + where,
               {},
               {}};
}

}  // namespace kiln::runtime
