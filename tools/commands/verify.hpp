// kiln verify: checks a finished build against its catalog and its manifest.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct VerifyOptions {
  std::filesystem::path folder = "out";  // the out folder of a build
  std::filesystem::path manifest;  // its abi files, floors and budgets are used; empty: the build's
  bool json = false;
};

Result<int> run_verify(const VerifyOptions& options, World& world);

}  // namespace kiln::tools
