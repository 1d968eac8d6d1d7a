// kiln inspect: shows the contents of an image, a container or a build folder, using kiln's own
// readers.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct InspectOptions {
  std::filesystem::path path;  // a file, or the out folder of a build
  bool json = false;
};

Result<int> run_inspect(const InspectOptions& options, World& world);

}  // namespace kiln::tools
