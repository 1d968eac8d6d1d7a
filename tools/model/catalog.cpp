#include "tools/model/catalog.hpp"

namespace kiln::tools {

std::string identity_of(const ToolRecord& tool) {
  KeyHasher hasher;
  for (const auto& [role, digest] : tool.roles) hasher.add("role " + role, digest);
  return hasher.finish().hex();
}

}  // namespace kiln::tools
