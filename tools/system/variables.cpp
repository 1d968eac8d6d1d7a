#include "tools/system/variables.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kPrefix = "KILN_";
constexpr std::size_t kMaxDistance = 2;

// Variables of the tools, the runtime with its devices, and the Python package.
// tests/structure/variables.sh compares the list with the sources and the documentation.
constexpr auto kVariables = std::to_array<std::string_view>({"KILN_BLAS_LIBRARY",
                                                             "KILN_CACHE",
                                                             "KILN_CACHE_DIR",
                                                             "KILN_CACHE_HTTP",
                                                             "KILN_CACHE_SIZE",
                                                             "KILN_CACHE_TIMEOUT",
                                                             "KILN_CACHE_URL",
                                                             "KILN_CUDA_LIBRARY",
                                                             "KILN_CXX",
                                                             "KILN_DEVICE",
                                                             "KILN_EMULATOR_CHECKS",
                                                             "KILN_EMULATOR_LIBRARY",
                                                             "KILN_EMULATOR_LIMIT",
                                                             "KILN_EMULATOR_SEED",
                                                             "KILN_EMULATOR_THREADS",
                                                             "KILN_FATBINARY",
                                                             "KILN_HIPCC",
                                                             "KILN_HIPIFY_PERL",
                                                             "KILN_HIPRTC_LIBRARY",
                                                             "KILN_HIP_LIBRARY",
                                                             "KILN_HOST_LIBRARY",
                                                             "KILN_HOST_THREADS",
                                                             "KILN_IMAGE_PATH",
                                                             "KILN_MEMORY_POOL",
                                                             "KILN_NVCC",
                                                             "KILN_NVRTC_LIBRARY",
                                                             "KILN_OFFLOAD_BUNDLER",
                                                             "KILN_PASS_ENVIRONMENT",
                                                             "KILN_RUNTIME_LIBRARY",
                                                             "KILN_TOOLCHAIN_DIR",
                                                             "KILN_TRACE"});

}  // namespace

// A program may have its own variables with this prefix, so only near misses of kiln's are
// reported.
std::vector<std::string> misspelt_variables(const Environment& environment) {
  std::vector<std::string> names, lines;
  for (const std::string_view name : kVariables) names.emplace_back(name.substr(kPrefix.size()));
  for (const auto& [variable, value] : environment.variables) {
    if (!variable.starts_with(kPrefix) ||
        std::ranges::find(kVariables, variable) != kVariables.end())
      continue;
    const std::string rest = variable.substr(kPrefix.size()), near = nearest(rest, names);
    if (near.empty() || edit_distance(rest, near) > kMaxDistance) continue;
    lines.push_back(variable + " is set, which nothing reads: did you mean " +
                    std::string(kPrefix) + near + "?");
  }
  const std::string passed = environment.get("KILN_PASS_ENVIRONMENT").value_or("");
  for (const std::string_view part : split(passed, ',')) {
    const std::string_view name = trim(part);
    if (name.find_first_of(" \t:;=") == std::string_view::npos) continue;
    lines.push_back("KILN_PASS_ENVIRONMENT names " + quote(name) +
                    ", which no variable is called: names are separated by commas");
  }
  return lines;
}

}  // namespace kiln::tools
