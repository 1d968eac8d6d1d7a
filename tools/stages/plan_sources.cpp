#include "tools/stages/plan_sources.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "tools/stages/scan_includes.hpp"

namespace kiln::tools {
namespace {

// Adds the macros of the command lines of all compilers: NAME=VALUE.
void add_defines(const CompileOptions& options, std::vector<std::string>& defines) {
  for (const auto& define : options.defines) defines.push_back(define.value);
  for (const auto* flags :
       {&options.flags, &options.amd_flags, &options.nvidia_flags, &options.host_flags}) {
    for (const auto& flag : *flags) {
      if (flag.value.starts_with("-D")) defines.push_back(flag.value.substr(2));
    }
  }
}

}  // namespace

Result<std::vector<Unit>> plan_sources(const Manifest& manifest, const Files& files) {
  std::vector<Unit> units;
  std::vector<Error> errors;
  IncludeScanner scanner(manifest, files);
  for (const ModuleSpec& module : manifest.modules) {
    for (std::size_t i = 0; i < module.sources.size(); ++i) {
      Unit unit{&module, static_cast<std::uint16_t>(i), module.sources[i].value, {}, {}};
      std::vector<std::string> defines;
      for (const CompileOptions* options : {&manifest.options, &module.options}) {
        for (const auto& directory : options->include_directories) {
          unit.include_directories.push_back(directory.value);
        }
        add_defines(*options, defines);
      }
      Result<SourceFiles> reached = scanner.closure(unit.source, unit.include_directories, defines);
      if (!reached) {
        // Several units may reach the header that is wrong.
        const Error& wrong = reached.error();
        const bool is_known = std::ranges::any_of(errors, [&](const Error& one) {
          return to_string(one.where) == to_string(wrong.where) && one.message == wrong.message;
        });
        if (!is_known) errors.push_back(wrong);
        continue;
      }
      unit.files = std::move(reached->local);
      unit.outside = std::move(reached->outside);
      units.push_back(std::move(unit));
    }
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  return units;
}

}  // namespace kiln::tools
