// What a build was made from, as kiln.json holds it, and back: settings, sources with their
// options, tools.
#pragma once

#include <optional>
#include <vector>

#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

Json settings_json(const BuildSettings& settings);
Json module_json(const Module& module);
Json tool_json(const ToolRecord& tool);

// Out of a whole kiln.json; nothing where it was written by a kiln that kept less.
std::optional<BuildSettings> read_settings(const Json& document);
// Names, sources, origins and targets; kernels and images are elsewhere in the document.
std::vector<Module> read_module_origins(const Json& document);
std::vector<ToolRecord> read_tools(const Json& document);

}  // namespace kiln::tools
