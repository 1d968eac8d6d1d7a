// describe_build: what a build is made of, as its catalog tells it: tools, settings, sources and options.
// All of it is known before a step has run.
#pragma once

#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/model/catalog.hpp"
#include "tools/model/manifest.hpp"
#include "tools/stages/bundle_sources.hpp"

namespace kiln::tools {

// The tools that the build uses, with the user's options for them.
std::vector<ToolRecord> used_tools(const BuildContext& context);

BuildSettings settings_of(const Manifest& manifest);

// Fills in of `module` what its part of the manifest and its sources tell, by `read`; its source
// bundles where the manifest embeds them.
Result<void> describe_module(const Manifest& manifest, const ModuleSpec& spec,
                             const std::vector<Unit>& units, const ReadSource& read,
                             Module& module);

// All of it; modules have no kernels and no images yet.
Result<Catalog> describe_build(const Manifest& manifest, const std::vector<Unit>& units,
                               const BuildContext& context, const Files& files);

}  // namespace kiln::tools
