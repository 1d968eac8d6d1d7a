// Brings the outputs of a plan up to date: runs what is stale, side by side, and reports each step.
//
// Order: a step starts when the steps it reads from are done; of those that can start, the longest goes
// first (step_queue.hpp). Bundles wait until every compile has ended.
//
// Failures: a failed step stops the steps that read from it and nothing else, so that one run shows
// every module that is broken; but then no bundle is made. With FailurePolicy::kKeepGoing the bundles
// of intact modules are made too. An interrupt stops everything; what is done stays done.
//
// Effects: outputs and logs below out/, written whole; `state` holds a record of every step whose
// output is in place when execute() returns, however it returns.
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
  kSkipped,  // a step that it reads from failed, or the build stopped before it
};
std::string_view to_string(StepStatus status);

struct StepReport {
  StepStatus status = StepStatus::kSkipped;
  std::vector<std::string> reasons;  // why it was not up to date
  std::uint64_t milliseconds = 0;    // what the tool took; 0 unless it ran
};

// Is told what happens, from any thread, one call at a time.
class ExecuteObserver {
 public:
  virtual ~ExecuteObserver() = default;
  // Before anything runs: how many steps are not up to date, and what they took last time in all.
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
  const Interrupt* interrupt = nullptr;  // ends waiting for other builds; null: never
};

struct Execution {
  std::vector<StepReport> steps;      // by plan position
  std::vector<Error> errors;          // of the failed steps, in plan order
  std::vector<std::string> warnings;  // what went wrong beside the build: the store could not be written
  std::size_t count(StepStatus status) const;
};

// The error is kInterrupted, or what kept the build from starting; failed steps are in the Execution.
Result<Execution> execute(const BuildContext& context, BuildState& state, Files& files,
                          Processes& processes, const ExecuteOptions& options);

}  // namespace kiln::tools
