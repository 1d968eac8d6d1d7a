// kiln lock: records what a finished build was made with, for `kiln build --locked`.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct LockOptions {
  std::filesystem::path folder = "out";
  std::filesystem::path file = "kiln.lock";
};

Result<int> run_lock(const LockOptions& options, World& world);

}  // namespace kiln::tools
