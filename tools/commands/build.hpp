// kiln build: from a manifest to images, bundles, the catalog and the generated header.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"
#include "tools/model/selection.hpp"
#include "tools/commands/world.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

struct BuildOptions {
  Selection selection;
  unsigned jobs = 0;  // steps at a time; 0: one per core
  bool keep_going = false;
  bool json = false;
  bool explain = false;
  bool dry_run = false;   // say which steps are stale, and why; run none
  bool no_cache = false;  // neither read nor write the store that builds share
  std::filesystem::path locked;  // the lock file that the build must not differ from; empty: none
  // Where to write a rule for Make and Ninja: the header's stamp, spelt as `selection.out` is, depends on
  // every file that was read, by its absolute path. Empty: nowhere.
  std::filesystem::path depfile;
  std::filesystem::path trace;  // what ran when, in the Chrome trace format; empty: none
  // Each replaces what the manifest's "embed" says.
  std::optional<EmbedMode> embed;
  std::vector<EmbedOutput> outputs;  // sorted, each once; empty: the manifest's
  std::optional<std::string> name_space;
  std::optional<Compression> compression;
  std::optional<EmbedSource> embed_source;
};

Result<int> run_build(const BuildOptions& options, World& world);

}  // namespace kiln::tools
