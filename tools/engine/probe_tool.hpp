// probe_tool: learns about one program: its version, the files that decide its output, and what it
// can build.
//
// Runs the program (--version and the like) and asks the dynamic linker for its shared libraries.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

struct ProbeRequest {
  ToolKind kind = ToolKind::kHipify;
  std::filesystem::path program;
  std::vector<std::pair<std::string, std::string>> environment;  // Tool::environment
  std::filesystem::path device_libraries;                        // HIP compiler only
};

// The result of probing a tool. `parts` have the roles that steps name:
//   hipify-perl     program, interpreter
//   hipcc           script (hipcc's own), program (clang), library, linker, device-library, and
//                   device-library:<isa> for the constants of one processor ("device-library:1100")
//   bundler         program, library
//   nvcc            program (with nvcc.profile), preprocessor, cicc, libdevice, ptxas
//   fatbinary       program, library
//   host-compiler   program, library, compiler, assembler, linker; libgcc, and linked for the other
//                   files that the linker adds to an image or takes symbol versions from
struct Probe {
  std::string version;
  std::vector<Tool::Part> parts;
  std::vector<std::filesystem::path> folders;  // folders whose listing the result also depends on
  std::vector<std::string> builds;             // targets, sorted; HIP compiler and nvcc only
  bool takes_source_name = false;              // Tool::takes_source_name
  std::filesystem::path driver_perl;           // Tool::driver_perl
};

// The error is kUnavailable and says why the program cannot be used, or kInterrupted.
Result<Probe> probe_tool(const ProbeRequest& request, const Files& files, Processes& processes,
                         const Environment& environment);

// A digest of probe_tool's sources: what an older kiln learned about a tool may lack something.
std::string_view probe_code();

// Returns the path of `name` on PATH, or an empty path.
std::filesystem::path find_on_path(std::string_view name, const Files& files,
                                   const Environment& environment);

}  // namespace kiln::tools
