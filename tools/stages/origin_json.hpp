// Writes what a build was made from into kiln.json and reads it back: settings, sources with their
// options, tools.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

Json settings_json(const BuildSettings& settings);
Json module_json(const Module& module);
Json tool_json(const ToolRecord& tool);
Json source_files_json(const std::vector<SourceFile>& files);

// Reads a whole kiln.json. Returns nothing if it lacks some settings, as one from an older kiln
// does.
std::optional<BuildSettings> read_settings(const Json& document);
// Reads names, sources, origins and targets of the modules. Kernels and images are elsewhere in the
// document.
std::vector<Module> read_module_origins(const Json& document);
std::vector<ToolRecord> read_tools(const Json& document);
std::vector<SourceFile> read_source_files(const Json& owner, std::string_view key);

}  // namespace kiln::tools
