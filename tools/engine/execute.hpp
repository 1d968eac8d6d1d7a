// Brings the outputs of a plan up to date: runs stale steps in parallel and reports each step.
//
// Order: a step starts when the steps that it reads from are done. Among the steps that can start,
// the longest goes first (step_queue.hpp). Bundles wait until every compile has ended.
//
// Failures: a failed step stops only the steps that read from it, so that one run reports every
// broken module. No bundle is made then. With FailurePolicy::kKeepGoing, intact modules still get
// bundles. An interrupt stops everything; finished steps stay finished.
//
// Effects: writes whole outputs and logs below out/. When execute() returns, even with an error,
// `state` has a record of every step whose output is in place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/engine/state.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

enum class StepStatus : std::uint8_t {
  kUpToDate,
  kCached,   // taken from the shared store
  kRan,
  kFailed,
  kSkipped,  // a step that it reads from failed, or the build stopped first
};
std::string_view to_string(StepStatus status);

struct StepReport {
  StepStatus status = StepStatus::kSkipped;
  std::vector<std::string> reasons;  // why the step was not up to date
  std::uint64_t milliseconds = 0;    // duration of the tool; 0 unless it ran
};

// Is told about the progress of a build. Calls come from any thread, one at a time.
class ExecuteObserver {
 public:
  virtual ~ExecuteObserver() = default;
  // Called before anything runs, with the number of stale steps and the time that all of them took
  // last time.
  virtual void planned(std::size_t stale_steps, std::uint64_t expected_milliseconds) = 0;
  virtual void started(const Step& step, std::uint64_t expected_milliseconds) = 0;
  virtual void finished(const Step& step, const StepReport& report) = 0;
};

enum class FailurePolicy : bool { kStopBeforeBundles, kKeepGoing };

struct ExecuteOptions {
  unsigned jobs = 1;
  FailurePolicy failure_policy = FailurePolicy::kStopBeforeBundles;
  CacheStore* cache = nullptr;          // null: no shared store
  ExecuteObserver* observer = nullptr;  // null: none
  const Interrupt* interrupt = nullptr;  // ends the wait for other builds; null: never interrupted
};

struct Execution {
  std::vector<StepReport> steps;      // by plan position
  std::vector<Error> errors;          // errors of the failed steps, in plan order
  // problems beside the build, such as a store that cannot be written
  std::vector<std::string> warnings;
  std::size_t count(StepStatus status) const;
};

// The error is kInterrupted, or why the build could not start. Errors of steps are in the
// Execution.
Result<Execution> execute(const BuildContext& context, BuildState& state, Files& files,
                          Processes& processes, const ExecuteOptions& options);

}  // namespace kiln::tools
