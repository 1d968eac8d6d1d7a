#include "tools/stages/plan_sources.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "tools/stages/scan_includes.hpp"

namespace kiln::tools {

Result<std::vector<Unit>> plan_sources(const Manifest& manifest, const Files& files) {
  std::vector<Unit> units;
  std::vector<Error> errors;
  IncludeScanner scanner(manifest, files);
  for (const ModuleSpec& module : manifest.modules) {
    for (std::size_t i = 0; i < module.sources.size(); ++i) {
      Unit unit{&module, static_cast<std::uint16_t>(i), module.sources[i].value, {}, {}};
      for (const CompileOptions* options : {&manifest.options, &module.options}) {
        for (const auto& directory : options->include_directories) {
          unit.include_directories.push_back(directory.value);
        }
      }
      Result<std::vector<std::string>> reached =
          scanner.closure(unit.source, unit.include_directories);
      if (!reached) {
        // Several units may reach the header that is wrong.
        const Error& wrong = reached.error();
        const bool is_known = std::ranges::any_of(errors, [&](const Error& one) {
          return to_string(one.where) == to_string(wrong.where) && one.message == wrong.message;
        });
        if (!is_known) errors.push_back(wrong);
        continue;
      }
      unit.files = *std::move(reached);
      units.push_back(std::move(unit));
    }
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  return units;
}

}  // namespace kiln::tools
