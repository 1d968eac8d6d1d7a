// finish: makes kiln.json, compile_commands.json and the header from the images and bundles of a
// build.
//
// Every image is read back and its kernels are compared (verify) before anything is written. The
// state records what decides the result (BuildState::finish), so that a build with nothing to do
// reads no image.
#pragma once

#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/engine/execute.hpp"
#include "tools/engine/state.hpp"
#include "tools/model/manifest.hpp"
#include "tools/stages/plan_sources.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

struct FinishRequest {
  const Manifest& manifest;                  // with the options of the command line applied
  const std::vector<Unit>& units;            // the planned sources
  std::vector<std::string> missing_targets;  // targets left out by --allow-missing
  std::vector<std::string> modules;          // modules whose steps all succeeded, sorted
  CacheStore* cache = nullptr;               // keeps compressed images; null: none
  // With kKeepGoing, a module whose images differ is left out; otherwise it fails the whole call.
  FailurePolicy failure_policy = FailurePolicy::kStopBeforeBundles;
};

// A file for programs that an earlier build made and this one does not.
struct RemovedFile {
  std::string path;  // relative to the out folder
  std::string why;   // "this build emits c and catalog"
};

struct Finished {
  bool was_up_to_date = false;
  std::size_t kernels = 0, images = 0;  // what was written; 0 when up to date
  std::vector<RemovedFile> removed;
  std::vector<std::string> without_kernels;  // sources, of modules with several
  // extern "C" kernels with arguments of which only the size is known
  std::vector<std::string> untyped_kernels;
  // folders outside the manifest's that embedded sources include from
  std::vector<std::string> headers_left_out;
  // files of the manifest's folder that the compilers read and that embedded sources lack, since
  // kiln cannot tell the names by which they are included
  std::vector<std::string> files_left_out;
  std::vector<Error> errors;  // errors of the modules that were left out
};

// Makes the catalog and the files for programs. The outputs of every step of `request.modules` must
// be in place. Writes nothing unless every image is valid, or with kKeepGoing, those of at least
// one module. Records the written files in `state.finish`. The error is kBuildFailed if an image
// cannot be read, has changed since it was made, or has other kernels; it covers all modules at
// once.
Result<Finished> finish(const FinishRequest& request, const BuildContext& context,
                        BuildState& state, Files& files);

// Returns the path of the header, relative to the out folder.
std::string header_path(const Manifest& manifest);

// Returns the absolute, sorted paths of all that the header depends on: manifest, abi files,
// sources, all that they include, and the tools.
std::vector<std::string> header_dependencies(const Manifest& manifest, const BuildContext& context,
                                             const BuildState& state);

}  // namespace kiln::tools
