// The data that one build stores for the next: the state of its out folder and the digests of
// files.
//
//   <out>/.kiln/state             BuildState
//   <out>/.kiln/digests           digests of files below the source root and the out folder
//   <cache folder>/digests        digests of all other files, such as compilers and system headers;
//                                 shared by the user's builds: 300 MB of compilers are read once
#pragma once

#include "kiln/result.hpp"
#include "tools/engine/state.hpp"
#include "tools/model/plan.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/file_digests.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

class BuildMemory {
 public:
  // Loads what was saved. A missing or damaged file counts as empty.
  BuildMemory(Files& files, const Plan& plan, const Environment& environment);

  FileDigests digests;
  BuildState state;

  // Writes what has changed. Fails if the state cannot be written, but not if the user's cache
  // folder cannot.
  Result<void> save();

 private:
  bool is_of_project(const std::string& path) const;

  Files& files_;
  std::filesystem::path source_root_, out_root_, user_digests_;
};

}  // namespace kiln::tools
