// parse_manifest: reads targets.json and the abi files that it names into a checked Manifest.
//
// The format is described in docs/MANIFEST.md, and for editors in tools/schema/targets.schema.json.
// All checks that need only the files are made here; check_targets checks what the installed tools
// can build.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// A relative `path` starts at `directory`. The error (kInvalidInput) lists every problem with file,
// line and column.
Result<Manifest> parse_manifest(const std::filesystem::path& path,
                                const std::filesystem::path& directory, const Files& files);

}  // namespace kiln::tools
