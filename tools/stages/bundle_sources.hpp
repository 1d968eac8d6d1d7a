// bundle_sources: a module -> what each of its units is compiled from, as the runtime reads it.
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

// One text of formats/source_bundle.hpp a unit, in the order of the units. Sources and headers are
// taken as they stand, before hipify-perl. Include directories outside of the manifest's folder are
// left out: the machine that compiles has others. Errors: those of reading a file.
Result<std::vector<std::string>> bundle_sources(const Manifest& manifest, const ModuleSpec& module,
                                                const std::vector<Unit>& units,
                                                const ReadSource& read);

// Whether headers from there come along.
bool is_bundled(const std::string& include_directory);

// What tells the module's sources from any others.
Digest source_digest(const std::vector<std::string>& bundles);

}  // namespace kiln::tools
