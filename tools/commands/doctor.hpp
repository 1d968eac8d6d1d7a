// kiln doctor: which tools were found, which targets they can build, what this machine can run, and
// the command that installs each thing that is missing.
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
  std::optional<std::filesystem::path> manifest;  // empty: targets.json, where there is one
  bool json = false;
};

// 0 when every target of the manifest can be built, or there is no manifest; else 3.
Result<int> run_doctor(const DoctorOptions& options, World& world);

// What doctor found; rendering it is apart, so that it can be tested on any machine.
struct Findings {
  struct Target {
    std::string name;
    std::optional<Error> why_not;  // empty: it can be built
  };
  Toolchain toolchain;
  std::string manifest;  // empty: none was given or found
  std::vector<Target> targets;
  std::vector<DeviceInfo> devices;
  std::vector<BackendStatus> backends;
  std::vector<std::string> hip_lacks;  // headers that the HIP found does not have
};
std::string findings_as_text(const Findings& findings, Color color);
std::string findings_as_json(const Findings& findings);  // format 1; documented in docs/MANIFEST.md

}  // namespace kiln::tools
