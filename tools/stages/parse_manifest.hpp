// parse_manifest: targets.json, and the abi files that it names -> a checked Manifest.
//
// Reference of the format: docs/MANIFEST.md; for editors: tools/schema/targets.schema.json. Checks all
// that can be told from the files alone; what the installed tools can build is check_targets' business.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// `directory` is what a relative `path` is relative to. The error (kInvalidInput) holds everything
// that is wrong, each with file, line and column.
Result<Manifest> parse_manifest(const std::filesystem::path& path,
                                const std::filesystem::path& directory, const Files& files);

}  // namespace kiln::tools
