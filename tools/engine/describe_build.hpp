// describe_build: fills a catalog with what is known before any step runs: tools, settings, sources
// and options.
#pragma once

#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/model/catalog.hpp"
#include "tools/model/manifest.hpp"
#include "tools/stages/bundle_sources.hpp"

namespace kiln::tools {

// Returns the tools that the build uses, and the options for them from the user's environment.
std::vector<ToolRecord> used_tools(const BuildContext& context);

BuildSettings settings_of(const Manifest& manifest);

// Fills in what the manifest and the sources say about `module`, reading them with `read`. Includes
// the source bundles if the manifest embeds them.
Result<void> describe_module(const Manifest& manifest, const ModuleSpec& spec,
                             const std::vector<Unit>& units, const ReadSource& read,
                             Module& module);

// Describes the whole build. The modules have no kernels and no images yet.
Result<Catalog> describe_build(const Manifest& manifest, const std::vector<Unit>& units,
                               const BuildContext& context, const Files& files);

}  // namespace kiln::tools
