// embed: a finished build -> the header that programs include.
//
// Compresses each image on its own, side by side on all cores. Writes no output: the caller writes the
// files under out/include.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/generate.hpp"
#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {

using GeneratedFile = generator::GeneratedFile;  // path relative to out/include; text may be binary

// The generated files, header first. The same catalog and options give the same bytes, whatever the
// number of cores. Compressed images are looked for in `store`, and kept there, so that a build after
// a small change compresses what has changed; it may be null.
//
// Needs modules, and the kernels of a module, sorted by name; images with their bytes. Errors:
// kInvalidInput for a namespace or file name that cannot be one; kEnvironment when memory runs out;
// kInternal when `catalog` is not as said here.
Result<std::vector<GeneratedFile>> embed(Catalog catalog, const EmbedOptions& options,
                                         std::uint32_t minimum_runtime,
                                         CacheStore* store = nullptr);

// The names of those files, but for the blobs of EmbedMode::kAsm, whose number depends on the images.
std::vector<std::string> embedded_files(const EmbedOptions& options);

}  // namespace kiln::tools
