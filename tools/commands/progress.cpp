#include "tools/commands/progress.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "base/helping_threads.hpp"
#include "base/text.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t milliseconds_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

// Returns the line for a finished step: in a log, or above the updated line if it is important.
std::string finished_line(const Step& step, const StepReport& report, const ProgressOptions& options) {
  std::string line = step.id;
  switch (report.status) {
    case StepStatus::kRan:
      line += " (" + format_duration(report.milliseconds) + ")";
      break;
    case StepStatus::kCached:
      line += " (from the cache)";
      break;
    case StepStatus::kUpToDate:
      line += " (up to date)";
      break;
    case StepStatus::kFailed:
      line += " FAILED";
      break;
    case StepStatus::kSkipped:
      line += " (skipped)";
      break;
  }
  if (options.explain && !report.reasons.empty()) {
    line += ": " + with_out_folder(join(report.reasons, ", "), options.out);
  }
  return line;
}

class LineProgress final : public ExecuteObserver {
 public:
  LineProgress(const ProgressOptions& options, std::ostream& err)
      : options_(options), err_(err) {}

  void planned(std::size_t stale_steps, std::uint64_t) override { total_ = stale_steps; }
  void started(const Step&, std::uint64_t) override {}
  void finished(const Step& step, const StepReport& report) override {
    err_ << "[" << ++done_ << "/" << total_ << "] " << finished_line(step, report, options_)
         << std::endl;
  }

 private:
  const ProgressOptions options_;
  std::ostream& err_;
  std::size_t total_ = 0, done_ = 0;
};

// A separate thread redraws the line, so that the clock runs while compilers do.
class TerminalProgress final : public ExecuteObserver {
 public:
  TerminalProgress(const ProgressOptions& options, World& world)
      : options_(options), err_(world.err), columns_(std::max(20u, world.environment.columns)) {}

  ~TerminalProgress() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    ticker_.reset();
    if (drawn_) err_ << "\r\033[K" << std::flush;
  }

  void planned(std::size_t stale_steps, std::uint64_t expected_milliseconds) override {
    const std::lock_guard lock(mutex_);
    total_ = stale_steps;
    expected_ = expected_milliseconds;
    ticker_.emplace(1, [this](std::size_t) { tick(); });
  }

  void started(const Step& step, std::uint64_t expected_milliseconds) override {
    const std::lock_guard lock(mutex_);
    running_[step.id] = expected_milliseconds;
    draw();
  }

  void finished(const Step& step, const StepReport& report) override {
    const std::lock_guard lock(mutex_);
    ++done_;
    finished_milliseconds_ += report.milliseconds;
    if (const auto running = running_.find(step.id); running != running_.end()) {
      expected_ -= std::min(expected_, running->second);
      running_.erase(running);
    }
    if (options_.explain || report.status == StepStatus::kFailed) {
      err_ << "\r\033[K" << finished_line(step, report, options_) << "\n";
    }
    draw();
  }

 private:
  void tick() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stopping_; })) {
      draw();
    }
  }

  // Estimates the rest from the last durations of the steps, or if they are unknown, from this
  // build's so far.
  std::uint64_t rest_milliseconds() const {
    const std::uint64_t left = total_ - std::min(total_, done_);
    const std::uint64_t work = expected_ != 0 ? expected_
                               : done_ != 0   ? finished_milliseconds_ / done_ * left
                                              : 0;
    return work / std::clamp<std::uint64_t>(left, 1, options_.jobs);
  }

  void draw() {
    if (total_ == 0) return;
    std::string line = "[" + std::to_string(done_) + "/" + std::to_string(total_) + "]";
    std::string tail = "  " + format_duration(milliseconds_since(start_));
    if (const std::uint64_t rest = rest_milliseconds(); rest >= 1000) {
      tail += ", about " + (rest < 10'000 ? std::to_string(rest / 1000) + " s" : format_duration(rest)) +
              " left";
    }
    std::string names;
    for (const auto& [id, expected] : running_) names += (names.empty() ? " " : ", ") + id;
    // Leaves one column free, because a full line would wrap.
    const std::size_t room = columns_ - 1 - std::min<std::size_t>(columns_ - 1, line.size() + tail.size());
    if (names.size() > room) names = room > 3 ? names.substr(0, room - 3) + "..." : "";
    line += names + tail;
    err_ << "\r\033[K" << line.substr(0, columns_ - 1) << std::flush;
    drawn_ = true;
  }

  const ProgressOptions options_;
  std::ostream& err_;
  const std::size_t columns_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<HelpingThreads> ticker_;
  bool stopping_ = false, drawn_ = false;
  std::map<std::string, std::uint64_t> running_;  // expected milliseconds
  std::uint64_t total_ = 0, done_ = 0, expected_ = 0, finished_milliseconds_ = 0;
};

class JsonProgress final : public ExecuteObserver {
 public:
  explicit JsonProgress(std::ostream& out) : out_(out) {}

  void planned(std::size_t stale_steps, std::uint64_t) override {
    write(Json::Object{{"event", "planned"}, {"steps", stale_steps}});
  }
  void started(const Step& step, std::uint64_t) override {
    write(Json::Object{{"event", "started"}, {"step", step.id}});
  }
  void finished(const Step& step, const StepReport& report) override {
    write(Json::Object{{"event", "finished"},
                       {"step", step.id},
                       {"status", to_string(report.status)},
                       {"milliseconds", report.milliseconds},
                       {"reasons", Json::Array(report.reasons.begin(), report.reasons.end())}});
  }

 private:
  void write(const Json& event) {
    out_ << trim(write_json(event, JsonLayout::kCompact)) << std::endl;
  }
  std::ostream& out_;
};

}  // namespace

std::string with_out_folder(std::string text, const std::filesystem::path& out) {
  constexpr std::string_view kOut = "{out}";
  const std::string spelt = out.string();
  for (std::size_t at = text.find(kOut); at != std::string::npos; at = text.find(kOut, at + spelt.size())) {
    text.replace(at, kOut.size(), spelt);
  }
  return text;
}

ProgressStyle style_for(const Environment& environment) {
  const bool can_update = environment.stderr_is_terminal && !is_dumb_terminal(environment);
  return can_update ? ProgressStyle::kTerminal : ProgressStyle::kLines;
}

std::unique_ptr<ExecuteObserver> make_progress(const ProgressOptions& options, World& world) {
  switch (options.style) {
    case ProgressStyle::kJson:
      return std::make_unique<JsonProgress>(world.out);
    case ProgressStyle::kTerminal:
      return std::make_unique<TerminalProgress>(options, world);
    case ProgressStyle::kLines:
      break;
  }
  return std::make_unique<LineProgress>(options, world.err);
}

std::string format_duration(std::uint64_t milliseconds) {
  if (milliseconds < 10'000) {
    const std::uint64_t tenths = (milliseconds + 50) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  }
  const std::uint64_t seconds = (milliseconds + 500) / 1000;
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
}

}  // namespace kiln::tools
