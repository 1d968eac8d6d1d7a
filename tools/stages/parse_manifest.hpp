// parse_manifest: targets.json, and the abi files that it names -> a checked Manifest.
//
// Reference of the format: docs/MANIFEST.md; for editors: tools/schema/targets.schema.json. Checks all
// that can be told from the files alone; what the installed tools can build is check_targets' business.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

struct ToolBounds;

// `directory` is what a relative `path` is relative to. The error (kInvalidInput) holds everything
// that is wrong, each with file, line and column.
Result<Manifest> parse_manifest(const std::filesystem::path& path,
                                const std::filesystem::path& directory, const Files& files);
// The same, with the versions of tools that it allows.
Result<Manifest> parse_manifest(const std::filesystem::path& path,
                                const std::filesystem::path& directory, const Files& files,
                                std::vector<ToolBounds>& tools);

// A file's name that also fits into an assembly file and into #error lines: "kernels.hpp".
bool is_header_name(std::string_view name);

// A C++ namespace that may hold others: "kernels", "my::kernels"; not "kiln" or "std".
Result<std::string> parse_namespace(std::string_view text);

}  // namespace kiln::tools
