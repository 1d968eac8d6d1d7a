// embed: makes the header that programs include from a finished build.
//
// Compresses each image separately, in parallel on all cores. Writes no file: the caller writes the
// results below out/include.
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

// path is relative to out/include; text may be binary
using GeneratedFile = generator::GeneratedFile;

// Returns the generated files, the header first. Equal catalogs and options give equal bytes,
// whatever the number of cores. `store` keeps compressed images, so that a build after a small
// change compresses only what has changed. It may be null.
//
// Modules, and the kernels of a module, must be sorted by name. Images must have their bytes.
// Errors: kInvalidInput for an invalid namespace or file name, kEnvironment if memory runs out, and
// kInternal if `catalog` breaks these rules.
Result<std::vector<GeneratedFile>> embed(Catalog catalog, const EmbedOptions& options,
                                         std::uint32_t minimum_runtime,
                                         CacheStore* store = nullptr);

// Returns the names of those files, except the blobs of EmbedMode::kAsm, whose number depends on
// the images.
std::vector<std::string> embedded_files(const EmbedOptions& options);

}  // namespace kiln::tools
