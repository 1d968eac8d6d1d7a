// Records when a build did what. Kept beside the build's state for `kiln report`, and written for
// chrome://tracing and similar tools (the Trace Event Format, complete events).
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

// Notes the time of each call and passes the call on.
class Timeline final : public ExecuteObserver {
 public:
  // May be null and may be set later.
  ExecuteObserver* next = nullptr;

  // Names what the build itself does until the next call, such as "prepare".
  void phase(std::string name);

  void planned(std::size_t stale_steps, std::uint64_t expected_milliseconds) override;
  void started(const Step& step, std::uint64_t expected_milliseconds) override;
  void finished(const Step& step, const StepReport& report) override;

  bool has_steps() const { return !steps_.empty(); }
  // Ends the phase and returns the events so far.
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

// Returns the path of a build's timeline.
std::filesystem::path timeline_file(const std::filesystem::path& out_root);

// The error (kInvalidInput) says that another file is in the way.
Result<void> check_trace_file(const Files& files, const std::filesystem::path& path,
                              const std::filesystem::path& as_given);

}  // namespace kiln::tools
