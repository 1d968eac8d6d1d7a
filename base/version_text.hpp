// Formats a version in KILN_VERSION form as "1.2.3".
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

inline std::string version_text(std::uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace kiln
