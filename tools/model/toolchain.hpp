// The toolchain: the tools of this machine, with their paths and versions and how they were found.
//
// engine/find_tools makes it. A missing tool is part of the value: `doctor` shows it, and a build
// that needs it says what to install.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "formats/target_id.hpp"

namespace kiln::tools {

enum class ToolKind : std::uint8_t {
  kHipify,          // hipify-perl
  kHipCompiler,     // hipcc, amdclang++ or clang++
  kOffloadBundler,  // clang-offload-bundler
  kNvcc,            // nvcc (with cicc, ptxas, cudafe++)
  kFatbinary,       // fatbinary
  kHostCompiler,    // g++ or clang++
};
std::string_view to_string(ToolKind kind);  // "hipify-perl", ...

struct Tool {
  ToolKind kind = ToolKind::kHipify;
  std::filesystem::path path;  // absolute; empty: not found
  std::string version;         // "19.1.7", "13.0.88"
  std::string rule;            // how it was found: "CUDA_PATH", "/usr/local/cuda", "PATH", ...
  // Environment variables that the tool needs (HIP_PATH, DEVICE_LIB_PATH, ...).
  std::vector<std::pair<std::string, std::string>> environment;
  // The files whose bytes decide what the tool produces, absolute and sorted. A step names the
  // files that it depends on by role, so that a changed ptxas does not make PTX stale.
  struct Part {
    std::string role;  // "program", "library", "device-library", "cicc", "ptxas", ...
    std::filesystem::path path;
  };
  std::vector<Part> parts;
  // nvcc: true if its cicc accepts kSourceNameOption, which sets the name that internal functions
  // are named after.
  bool takes_source_name = false;
  // hipify-perl: the perl that can run kiln's driver for it (tools/hipify). If empty, it runs
  // without the driver.
  std::filesystem::path driver_perl;
  std::string missing;   // why it was not found: every place that was tried
  std::string install;   // the command that installs it
  // the variable that names a missing tool; empty if the tool was searched for
  std::string named_by;
  std::string own_variable;  // kiln's own variable, which takes precedence

  bool found() const { return !path.empty(); }
};

inline constexpr std::string_view kSourceNameOption = "--orig_src_path_name";

// True for hipcc, which has its own include and library folders, and false for a plain clang.
bool is_hipcc(const std::filesystem::path& program);

// Returns a hint about a missing tool that a variable names.
std::string correction(const Tool& tool);

// Returns a note for users about a tool that was found; usually empty.
std::string shortcoming(const Tool& tool);

struct Toolchain {
  std::vector<Tool> tools;  // one per ToolKind, in that order
  // The targets that the AMD device libraries and the CUDA toolkit support; sorted.
  std::vector<std::string> amd_processors;   // "gfx1030", "gfx11-generic"
  std::vector<std::string> nvidia_targets;   // "sm_80", "compute_80"
  std::filesystem::path rocm_path;           // empty: none
  std::filesystem::path device_library_path; // ocml.bc and its like; empty: none
  std::filesystem::path cuda_path;

  const Tool& tool(ToolKind kind) const { return tools[static_cast<std::size_t>(kind)]; }
};

}  // namespace kiln::tools
