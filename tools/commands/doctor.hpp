// kiln doctor: shows the tools found, the targets that they can build, what this machine can run,
// and how to install what is missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/result.hpp"
#include "kiln/runtime.hpp"
#include "tools/commands/world.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

struct DoctorOptions {
  std::optional<std::filesystem::path> manifest;  // empty: targets.json, if it exists
  bool json = false;
};

// Returns 0 if every target of the manifest can be built or there is no manifest, and 3 otherwise.
Result<int> run_doctor(const DoctorOptions& options, World& world);

// The findings of doctor. Separate from their rendering, so that tests can render any findings.
struct Findings {
  struct Target {
    std::string name;
    std::optional<Error> why_not;  // empty if it can be built
  };
  Toolchain toolchain;
  std::string manifest;  // empty if none was given or found
  std::vector<Target> targets;
  std::vector<DeviceInfo> devices;
  std::vector<BackendStatus> backends;
  std::vector<std::string> hip_lacks;  // headers that the installed HIP lacks
  std::vector<std::string> hipify_leaves;  // CUDA headers that hipify-perl does not rename
};
std::string findings_as_text(const Findings& findings, Color color);
std::string findings_as_json(const Findings& findings);  // format 1; documented in docs/MANIFEST.md

}  // namespace kiln::tools
