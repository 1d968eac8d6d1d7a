// kiln verify: a finished build held to what its catalog and its manifest say of it.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct VerifyOptions {
  std::filesystem::path folder = "out";  // the out folder of a build
  std::filesystem::path manifest;  // whose abi files, floors and budgets count; empty: the build's
  bool json = false;
};

Result<int> run_verify(const VerifyOptions& options, World& world);

}  // namespace kiln::tools
