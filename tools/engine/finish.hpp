// finish: the images and bundles of a build -> kiln.json, compile_commands.json and the header.
//
// Every image is read back, its kernels are compared (verify), and only then is anything written. What
// decides the result is kept in BuildState::finish, so that a build with nothing to do reads no image.
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
  const Manifest& manifest;                  // with the options of the command line put in
  const std::vector<Unit>& units;            // its sources, as they were planned
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  std::vector<std::string> modules;          // whose steps all succeeded, sorted
  CacheStore* cache = nullptr;               // compressed images; null: none
  // Whether a module whose images differ is left out, or fails it all.
  FailurePolicy failure_policy = FailurePolicy::kStopBeforeBundles;
};

// A file for programs, of an earlier build, that this one does not make.
struct RemovedFile {
  std::string path;  // relative to the out folder
  std::string why;   // "this build emits c and catalog"
};

struct Finished {
  bool was_up_to_date = false;
  std::size_t kernels = 0, images = 0;  // of what was written; 0 when up to date
  std::vector<RemovedFile> removed;
  std::vector<std::string> without_kernels;  // sources of modules of several
  std::vector<std::string> untyped_kernels;  // extern "C", with arguments of which the size alone is known
  std::vector<std::string> headers_left_out;  // folders that embedded sources include from, outside of the manifest's
  std::vector<Error> errors;            // of the modules that were left out
};

// Needs the outputs of every step of `request.modules` in place. Records what it wrote in
// `state.finish`; nothing is written unless every image is as it should be, or with kKeepGoing
// those of one module are. Errors: kBuildFailed when an image cannot be read, is not the one that
// was made, or its kernels differ, for all modules at once.
Result<Finished> finish(const FinishRequest& request, const BuildContext& context,
                        BuildState& state, Files& files);

// Where the header is, relative to the out folder.
std::string header_path(const Manifest& manifest);

// The file beside it whose time is that of the last build that was asked for a depfile, of which it
// is the target: the header itself keeps its time while it stays the same.
std::string stamp_path(const Manifest& manifest);

// What the header depends on, absolute and sorted: manifest, abi files, sources, all that they include,
// and the tools.
std::vector<std::string> header_dependencies(const Manifest& manifest, const BuildContext& context,
                                             const BuildState& state);

}  // namespace kiln::tools
