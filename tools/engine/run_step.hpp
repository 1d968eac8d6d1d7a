// Runs one step, from its argv to an output in place or an error with everything the tool printed.
//
// The tool runs in the source root and gets relative names for the files there, so that no output
// depends on the checkout's location. It writes into a scratch folder, out/.kiln/tmp/<unique>,
// which is also its TMPDIR. The complete output is then moved to its place.
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
  std::vector<std::pair<std::string, Digest>> dependencies;  // neutral paths, sorted
  std::uint64_t milliseconds = 0;
  // Set if a file changed after it was digested or while the tool read it. It is then unknown what
  // the output was made from, so the step must not count as up to date.
  std::string changed_meanwhile;  // its neutral path, or empty
};

// The error is kBuildFailed with the exact command and the tool's output if the tool failed,
// kEnvironment if it could not be run, or kInterrupted.
Result<StepOutput> run_step(const Step& step, const BuildContext& context, Files& files,
                            Processes& processes);

// Puts the output and log of a step in place. A file that already has the content is not rewritten.
Result<void> place_output(const Step& step, const StepOutput& output, const BuildContext& context,
                          Files& files);

}  // namespace kiln::tools
