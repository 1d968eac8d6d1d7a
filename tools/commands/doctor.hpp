// kiln doctor: which tools were found, which targets they can build, what this machine can run, and
// the command that installs each thing that is missing.
#pragma once

#include <filesystem>
#include <optional>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct DoctorOptions {
  std::optional<std::filesystem::path> manifest;  // empty: targets.json, where there is one
  bool json = false;
};

// 0 when every target of the manifest can be built, else 3.
Result<int> run_doctor(const DoctorOptions& options, World& world);

}  // namespace kiln::tools
