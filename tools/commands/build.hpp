// kiln build: makes images, bundles, the catalog and the generated header from a manifest.
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
  unsigned jobs = 0;  // steps in parallel; 0: one per core
  bool keep_going = false;
  bool json = false;
  bool explain = false;
  bool dry_run = false;          // tell which steps are stale and why; run none
  bool no_cache = false;         // neither read nor write the store shared by builds
  std::filesystem::path locked;  // lock file that the build must match; empty: none
  // The file for a rule for Make and Ninja. The rule says that the header's stamp, spelt like
  // `selection.out`, depends on every file that was read, by absolute path. Empty: not written.
  std::filesystem::path depfile;
  // when each step ran, in the Chrome trace format; empty: not written
  std::filesystem::path trace;
  // Each of these replaces a value of the manifest's "embed".
  std::optional<EmbedMode> embed;
  std::vector<EmbedOutput> outputs;  // sorted, without duplicates; empty: the manifest's
  std::optional<std::string> name_space;
  std::optional<Compression> compression;
  std::optional<EmbedSource> embed_source;
};

Result<int> run_build(const BuildOptions& options, World& world);

}  // namespace kiln::tools
