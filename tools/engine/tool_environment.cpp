#include "tools/engine/tool_environment.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"

namespace kiln::tools {
namespace {

// Variables that change what compilers make and that users set on purpose. No other variable is
// passed on. Sources: the sections on environment variables in the manuals of nvcc, hipcc, clang
// and gcc.
struct ToolVariable {
  std::string_view name;
  bool nvcc, hip, host, others;
  bool is_options = false;  // the variable holds command-line options
};
constexpr std::array<ToolVariable, 18> kToolVariables = {{
    {"CCC_OVERRIDE_OPTIONS", true, true, true, false, true},
    {"COMPILER_PATH", true, true, true, false},
    {"CPATH", true, true, true, false},
    {"CPLUS_INCLUDE_PATH", true, true, true, false},
    {"C_INCLUDE_PATH", true, true, true, false},
    {"DEVICE_LIB_PATH", false, true, false, false},
    {"GCC_EXEC_PREFIX", true, false, true, false},
    {"HIPCC_COMPILE_FLAGS_APPEND", false, true, false, false, true},
    {"HIPCC_LINK_FLAGS_APPEND", false, true, false, false, true},
    {"HIP_CLANG_PATH", false, true, false, false},
    {"HIP_PATH", false, true, false, false},
    {"LD_LIBRARY_PATH", true, true, true, true},
    {"LIBRARY_PATH", false, false, true, false},
    {"NVCC_APPEND_FLAGS", true, false, false, false, true},
    {"NVCC_CCBIN", true, false, false, false},
    {"NVCC_PREPEND_FLAGS", true, false, false, false, true},
    {"ROCM_PATH", false, true, false, false},
    {"SOURCE_DATE_EPOCH", true, true, true, false},
}};

bool reads(ToolKind tool, const ToolVariable& variable) {
  switch (tool) {
    case ToolKind::kNvcc: return variable.nvcc;
    case ToolKind::kHipCompiler: return variable.hip;
    case ToolKind::kHostCompiler: return variable.host;
    case ToolKind::kHipify:
    case ToolKind::kOffloadBundler:
    case ToolKind::kFatbinary: break;
  }
  return variable.others;
}

}  // namespace

Variables passed_variables(ToolKind tool, const Environment& environment) {
  std::map<std::string, std::string> passed;
  const auto pass = [&](std::string_view name) {
    if (auto value = environment.get(name)) passed.emplace(name, std::move(*value));
  };
  for (const ToolVariable& variable : kToolVariables) {
    if (reads(tool, variable)) pass(variable.name);
  }
  const std::string wanted = environment.get("KILN_PASS_ENVIRONMENT").value_or("");
  for (const std::string_view name : split(wanted, ',')) pass(trim(name));
  passed.erase("PATH");
  return {passed.begin(), passed.end()};
}

bool is_options(std::string_view name) {
  const auto found = std::ranges::find(kToolVariables, name, &ToolVariable::name);
  return found != kToolVariables.end() && found->is_options;
}

Variables tool_environment(ToolKind tool, const Environment& environment) {
  Variables variables = passed_variables(tool, environment);
  variables.emplace_back("LC_ALL", "C");
  variables.emplace_back("PATH", environment.get("PATH").value_or(std::string(kDefaultPath)));
  return variables;
}

}  // namespace kiln::tools
