// Runs one step: from its argv to an output in place, or an error that holds all the tool said.
//
// The tool runs in the source root, with the source root's files under relative names, so that no
// output can hold the place of a checkout. It writes into a folder of its own, out/.kiln/tmp/<unique>,
// which is also its TMPDIR; the output is moved to its place once it is whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/model/plan.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

struct StepOutput {
  std::string bytes;
  std::string log;  // what the tool printed
  Digest digest = {}, log_digest = {};
  std::vector<std::pair<std::string, Digest>> dependencies;  // neutral; sorted by path
  std::uint64_t milliseconds = 0;
  // A file changed since it was digested, or while the tool read it: the output is of no known
  // input, and must not be taken for up to date.
  std::string changed_meanwhile;  // its neutral path, or empty
};

// The error is kBuildFailed when the tool failed, with the exact command and the tool's output;
// kInterrupted, or kEnvironment when the tool could not be run.
Result<StepOutput> run_step(const Step& step, const BuildContext& context, Files& files,
                            Processes& processes);

// Puts output and log of a step in place. An output that is already there is left alone.
Result<void> place_output(const Step& step, const StepOutput& output, const BuildContext& context,
                          Files& files);

}  // namespace kiln::tools
