#include "tools/engine/execute.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "base/diagnostic.hpp"
#include "base/helping_threads.hpp"
#include "base/text.hpp"
#include "tools/engine/run_step.hpp"
#include "tools/engine/step_cache.hpp"
#include "tools/engine/step_error.hpp"
#include "tools/engine/step_queue.hpp"

namespace kiln::tools {
namespace {

std::string erase_all(std::string text, const std::string& word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.erase(at, word.size());
  return text;
}

bool is_packing(const Step& step) {
  return step.kind == StepKind::kBundle || step.kind == StepKind::kFatbin;
}

// One run of execute(). Workers share it under `mutex_` and do the work of a step without holding
// the lock.
class Scheduler {
 public:
  Scheduler(const BuildContext& context, BuildState& state, Files& files, Processes& processes,
            const ExecuteOptions& options)
      : context_(context), state_(state), files_(files), processes_(processes), options_(options),
        steps_(context.plan.steps), progress_(steps_.size()), ready_(steps_) {
    execution_.steps.resize(steps_.size());
  }

  Result<Execution> run() {
    prefetch_digests();
    skip_fresh_steps();
    if (unfinished_ != 0) {
      announce();
      prepare_queue();
      const std::size_t workers = std::min<std::size_t>(std::max(1u, options_.jobs), unfinished_);
      const HelpingThreads helpers(workers - 1, [this](std::size_t) { work_within_memory(); });
      work_within_memory();
    }
    if (stop_) return std::move(*stop_);
    collect_errors();
    return std::move(execution_);
  }

 private:
  enum class Phase : std::uint8_t { kWaiting, kRunning, kDone, kFailed };
  struct Progress {
    Phase phase = Phase::kWaiting;
    std::optional<Assessment> assessment;  // if made before the workers started
    std::optional<Error> error;
    std::uint64_t expected = 0;            // milliseconds
    std::uint32_t waits_for = 0;           // number of unfinished steps that it reads from
    std::vector<std::uint32_t> followers;  // steps that wait for this one
  };

  // Collects errors in plan order. If a tool prints the same for several targets of a source, the
  // text appears only once.
  void collect_errors() {
    // printed text without the target's name -> id of the first step that printed it
    std::map<std::string, std::string> first_printed;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!progress_[i].error) continue;
      Error& error = execution_.errors.emplace_back(std::move(*progress_[i].error));
      const Step& step = steps_[i];
      if (step.target.empty() || error.notes.empty() || !is_printed(error.notes.front())) continue;
      const auto [first, is_new] =
          first_printed.emplace(erase_all(error.notes.front().text, step.target), step.id);
      if (is_new) continue;
      error.notes.clear();
      error.note(std::string(to_string(step.tool)) + " printed the same as for " + quote(first->second));
    }
  }

  const StepRecord* record_of(const Step& step) const {
    const auto found = state_.steps.find(step.id);
    return found == state_.steps.end() ? nullptr : &found->second;
  }
  std::uint64_t expected_milliseconds(const Step& step) const {
    const StepRecord* record = record_of(step);
    return record == nullptr ? 0 : record->milliseconds;
  }

  // Computes every digest that the checks of the steps will need.
  void prefetch_digests() {
    std::set<std::pair<ToolKind, std::vector<std::string>>> tools;
    std::unordered_set<std::string_view> names;
    std::unordered_set<const void*> lists;
    std::vector<std::string> paths;
    const auto add = [&](std::string_view neutral) {
      if (names.insert(neutral).second) paths.push_back(expand(neutral, context_.plan));
    };
    for (const Step& step : steps_) {
      if (tools.emplace(step.tool, step.tool_roles).second) {
        for (const auto& part : context_.shared->parts(step, context_.toolchain.tool(step.tool))) {
          paths.push_back(part.path);
        }
      }
      for (const std::string& input : step.inputs) add(input);
      const StepRecord* record = record_of(step);
      if (record == nullptr) continue;
      if (lists.insert(record->dependencies.id()).second) {
        for (const auto& [path, digest] : record->dependencies) add(path);
      }
      add(step.output);
      paths.push_back(expand(log_path(step), context_.plan));
    }
    context_.digests.prefetch(paths, options_.jobs);
  }

  // Marks fresh steps as done. If there is nothing to do, the run ends here and starts no thread.
  void skip_fresh_steps() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (inputs_phase(step) == Phase::kDone) {
        Assessment assessment = assess(step, record_of(step), context_);
        if (assessment.freshness == Freshness::kFresh) {
          progress_[i].phase = Phase::kDone;
          execution_.steps[i].status = StepStatus::kUpToDate;
          continue;
        }
        progress_[i].assessment = std::move(assessment);
      }
      ++unfinished_;
      if (!is_packing(step)) ++uncompiled_;
    }
  }

  void announce() {
    if (options_.observer == nullptr) return;
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (progress_[i].phase == Phase::kWaiting) expected += expected_milliseconds(steps_[i]);
    }
    options_.observer->planned(unfinished_, expected);
  }

  // Returns kFailed if any step that this one reads from failed, kDone if all are done, and
  // kWaiting otherwise.
  Phase inputs_phase(const Step& step) const {
    Phase phase = Phase::kDone;
    for (const std::uint32_t before : step.after) {
      if (progress_[before].phase == Phase::kFailed) return Phase::kFailed;
      if (progress_[before].phase != Phase::kDone) phase = Phase::kWaiting;
    }
    return phase;
  }

  // Runs after skip_fresh_steps(). Counts what each step still waits for and queues the steps
  // that can start.
  void prepare_queue() {
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      progress_[i].expected = expected_milliseconds(steps_[i]);
      if (progress_[i].expected != 0) ready_.record_duration(i, progress_[i].expected);
      if (progress_[i].phase != Phase::kWaiting) continue;
      for (const std::uint32_t before : steps_[i].after) {
        if (progress_[before].phase == Phase::kDone) continue;
        ++progress_[i].waits_for;
        progress_[before].followers.push_back(i);
      }
      if (progress_[i].waits_for == 0) enqueue(i);
    }
    if (uncompiled_ == 0) release_packing();
  }

  void enqueue(std::uint32_t i) {
    if (is_packing(steps_[i]) && !packing_started_) {
      packing_.push_back(i);
    } else {
      ready_.push(i);
    }
  }

  // Called when the last compile has ended: starts the bundles, or gives them up.
  void release_packing() {
    packing_started_ = true;
    const bool may_start = !any_failed_ || options_.failure_policy == FailurePolicy::kKeepGoing;
    for (const std::uint32_t i : std::exchange(packing_, {})) {
      if (may_start) {
        enqueue(i);
      } else {
        mark_ended(i, Phase::kFailed, {});
      }
    }
  }

  // Returns the step to run next, or nothing if none can start now.
  std::optional<std::size_t> take_next() {
    if (ready_.empty()) return std::nullopt;
    return ready_.pop();
  }

  // Marks a step as done or failed, and what follows from that: steps that waited for it may start,
  // or fail with it.
  void mark_ended(std::size_t i, Phase phase, StepReport report) {
    progress_[i].phase = phase;
    --unfinished_;
    if (!is_packing(steps_[i])) --uncompiled_;
    if (phase == Phase::kFailed) any_failed_ = true;
    if (report.milliseconds != 0) {
      ready_.record_duration(static_cast<std::uint32_t>(i), report.milliseconds);
    }
    execution_.steps[i] = std::move(report);
    if (options_.observer != nullptr) options_.observer->finished(steps_[i], execution_.steps[i]);
    for (const std::uint32_t follower : progress_[i].followers) {
      if (progress_[follower].phase != Phase::kWaiting) continue;
      if (phase == Phase::kFailed) {
        mark_ended(follower, Phase::kFailed, {});
      } else if (--progress_[follower].waits_for == 0) {
        enqueue(follower);
      }
    }
    if (uncompiled_ == 0 && !packing_started_) release_packing();
    changed_.notify_all();
  }

  // If memory runs out, all workers stop. Finished steps stay finished.
  void work_within_memory() {
    try {
      work();
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      stop_ = Error{ErrorCode::kEnvironment, "there is not enough memory"}.hint(
          "end other programs, or run fewer steps at a time: --jobs N");
      changed_.notify_all();
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (unfinished_ != 0 && !stop_) {
      const std::optional<std::size_t> next = take_next();
      if (!next) {
        // Waits for a running step, whose end may let another step start or may finish the build.
        if (unfinished_ != 0) changed_.wait(lock);
        continue;
      }
      progress_[*next].phase = Phase::kRunning;
      if (options_.observer != nullptr) {
        options_.observer->started(steps_[*next], progress_[*next].expected);
      }
      const std::optional<StepRecord> record = copy_record(steps_[*next]);
      lock.unlock();
      StepResult result = update(*next, record ? &*record : nullptr);
      lock.lock();
      record_result(*next, std::move(result));
    }
  }

  std::optional<StepRecord> copy_record(const Step& step) const {
    const StepRecord* record = record_of(step);
    return record == nullptr ? std::nullopt : std::optional(*record);
  }

  // Result of one step, before the scheduler takes note of it.
  struct StepResult {
    StepReport report;
    std::optional<StepRecord> record;
    std::optional<Error> error;
    std::string warning;
  };

  // Brings the output of a step up to date. Runs without the lock.
  StepResult update(std::size_t i, const StepRecord* record) {
    const Step& step = steps_[i];
    StepResult result;
    const Assessment assessment = progress_[i].assessment ? std::move(*progress_[i].assessment)
                                                          : assess(step, record, context_);
    result.report.reasons = assessment.reasons;
    if (assessment.freshness == Freshness::kFresh) {
      result.report.status = StepStatus::kUpToDate;
      result.record = *record;
      return result;
    }
    Result<Obtained> obtained = obtain_output(step, assessment.ingredients);
    if (!obtained) return failed(std::move(result), std::move(obtained).error());
    StepOutput& output = obtained->output;
    const bool has_run = obtained->status == StepStatus::kRan;
    result.report.status = obtained->status;
    if (has_run) result.report.milliseconds = output.milliseconds;
    if (auto placed = place_output(step, output, context_, files_); !placed) {
      return failed(std::move(result), std::move(placed).error());
    }
    if (!output.changed_meanwhile.empty()) {
      result.warning = display_path(output.changed_meanwhile) +
                       " changed during the build: " + quote(step.id) +
                       " will run again in the next one";
      return result;
    }
    if (has_run) result.warning = store_output(step, assessment.ingredients, output);
    // A cached step keeps the duration of its last run on this machine.
    const std::uint64_t last = record == nullptr ? 0 : record->milliseconds;
    result.record = StepRecord{.ingredients = write_ingredients(assessment.ingredients),
                               .dependencies = std::move(output.dependencies),
                               .output = output.digest,
                               .log = output.log_digest,
                               .milliseconds = has_run ? output.milliseconds : last};
    return result;
  }

  struct Obtained {
    StepOutput output;
    StepStatus status;  // kCached or kRan
    // Held until the output is in the store, so that only one of several builds runs the step.
    std::optional<RangeLock> claim;
  };

  // Finds the output of a step in the shared store, or runs the step.
  Result<Obtained> obtain_output(const Step& step, const Ingredients& ingredients) {
    std::optional<StepOutput> found = find_in_cache(options_.cache, step, ingredients, context_);
    std::optional<RangeLock> claim;
    if (!found) {
      claim = claim_in_cache(options_.cache, ingredients, options_.interrupt);
      // Another build may have run the step while this one waited.
      if (claim) {
        found =
            find_in_cache(options_.cache, step, ingredients, context_, CacheStore::Levels::kLocal);
      }
    }
    if (found) return Obtained{*std::move(found), StepStatus::kCached, std::move(claim)};
    KILN_TRY_ASSIGN(StepOutput output, run_step(step, context_, files_, processes_));
    // The inputs were digested before the first step ran, possibly long ago.
    if (output.changed_meanwhile.empty()) {
      output.changed_meanwhile = changed_since(
          ingredients, step, context_.plan, context_.toolchain.tool(step.tool), context_.digests);
    }
    return Obtained{std::move(output), StepStatus::kRan, std::move(claim)};
  }

  // Puts an output into the shared store. The folder may be read-only or the disk full: the first
  // failure is returned as a warning, and storing stops.
  std::string store_output(const Step& step, const Ingredients& ingredients,
                           const StepOutput& output) {
    if (!cache_takes_outputs_) return {};
    const auto stored = put_in_cache(options_.cache, step, ingredients, output);
    if (stored || !cache_takes_outputs_.exchange(false)) return {};
    return "outputs are not kept for other builds: " + stored.error().message +
           " (KILN_CACHE_DIR says where they are kept)";
  }

  static StepResult failed(StepResult result, Error error) {
    result.report.status = StepStatus::kFailed;
    result.error = std::move(error);
    return result;
  }

  // Takes note of what a step came to.
  void record_result(std::size_t i, StepResult result) {
    state_.is_changed = true;
    // The output in place is now either on record or of unknown origin.
    if (result.record) {
      state_.steps[steps_[i].id] = std::move(*result.record);
    } else {
      state_.steps.erase(steps_[i].id);
    }
    if (!result.warning.empty() && std::find(execution_.warnings.begin(), execution_.warnings.end(),
                                             result.warning) == execution_.warnings.end()) {
      execution_.warnings.push_back(std::move(result.warning));
    }
    // An interrupted step has not failed: it is not reported and does not fail its followers.
    if (result.error && result.error->code == ErrorCode::kInterrupted) {
      stop_ = std::move(*result.error);
      changed_.notify_all();
      return;
    }
    const Phase phase = result.error ? Phase::kFailed : Phase::kDone;
    progress_[i].error = std::move(result.error);
    mark_ended(i, phase, std::move(result.report));
  }

  const BuildContext& context_;
  BuildState& state_;
  Files& files_;
  Processes& processes_;
  const ExecuteOptions& options_;
  const std::vector<Step>& steps_;

  std::atomic<bool> cache_takes_outputs_ = true;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Progress> progress_;
  StepQueue ready_;
  std::vector<std::uint32_t> packing_;  // ready, but held back until every compile has ended
  bool packing_started_ = false;
  std::size_t unfinished_ = 0;  // neither done nor failed
  std::size_t uncompiled_ = 0;  // unfinished steps other than bundles
  bool any_failed_ = false;
  std::optional<Error> stop_;
  Execution execution_;
};

}  // namespace

std::string_view to_string(StepStatus status) {
  static constexpr std::array<std::string_view, 5> kNames = {"up-to-date", "cached", "ran",
                                                             "failed", "skipped"};
  return kNames[static_cast<std::size_t>(status)];
}

std::size_t Execution::count(StepStatus status) const {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(),
                    [&](const StepReport& step) { return step.status == status; }));
}

Result<Execution> execute(const BuildContext& context, BuildState& state, Files& files,
                          Processes& processes, const ExecuteOptions& options) {
  return Scheduler(context, state, files, processes, options).run();
}

}  // namespace kiln::tools
