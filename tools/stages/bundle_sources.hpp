// bundle_sources: collects what each unit of a module is compiled from, for the runtime's compiler.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/stages/plan_sources.hpp"

namespace kiln::tools {

using ReadSource = std::function<Result<std::string>(const std::filesystem::path&)>;

// Returns one text of formats/source_bundle.hpp per unit, in the order of the units. Sources and
// headers are taken unchanged, before hipify-perl. Include directories outside the manifest's
// folder are left out, because the compiling machine has its own. Errors: those of reading a file.
Result<std::vector<std::string>> bundle_sources(const Manifest& manifest, const ModuleSpec& module,
                                                const std::vector<Unit>& units,
                                                const ReadSource& read);

// True if headers of this directory are put into bundles.
bool is_bundled(const std::string& include_directory);

// Identifies the sources of a module.
Digest source_digest(const std::vector<std::string>& bundles);

}  // namespace kiln::tools
