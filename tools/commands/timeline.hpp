// What a build did when: kept beside its state for `kiln report`, and written for chrome://tracing
// and its like (the Trace Event Format, complete events).
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/execute.hpp"
#include "tools/json/json.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// Notes the times of what it is told, and passes it on.
class Timeline final : public ExecuteObserver {
 public:
  // `next` may be null, and may be set later.
  ExecuteObserver* next = nullptr;

  // What the build itself does from now until the next call, "prepare".
  void phase(std::string name);

  void planned(std::size_t stale_steps, std::uint64_t expected_milliseconds) override;
  void started(const Step& step, std::uint64_t expected_milliseconds) override;
  void finished(const Step& step, const StepReport& report) override;

  bool has_steps() const { return !steps_.empty(); }
  // The events so far; ends the phase.
  std::string write();

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::int64_t start = 0;
    std::size_t lane = 0;
  };
  std::int64_t now() const;
  void end_phase();
  std::size_t free_lane() const;

  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::string phase_;
  std::int64_t phase_start_ = 0;
  Json::Array phases_, steps_;
  std::map<std::string, Running> running_;  // by Step::id
};

// Where a build keeps its own.
std::filesystem::path timeline_file(const std::filesystem::path& out_root);

// The error (kInvalidInput) is that something else lies there.
Result<void> check_trace_file(const Files& files, const std::filesystem::path& path,
                              const std::filesystem::path& as_given);

}  // namespace kiln::tools
