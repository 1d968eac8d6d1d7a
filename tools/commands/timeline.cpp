#include "tools/commands/timeline.hpp"

#include <algorithm>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFirst = "{\"traceEvents\":";

Json event(const std::string& name, const std::string& category, std::int64_t start,
           std::int64_t end, std::size_t lane, Json::Object arguments) {
  return Json::Object{
      {"name", name},       {"cat", category}, {"ph", "X"},   {"ts", start},
      {"dur", end - start}, {"pid", 1},        {"tid", lane}, {"args", std::move(arguments)}};
}

Json lane_name(std::size_t lane, const std::string& name) {
  return Json::Object{{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", lane},
                      {"args", Json::Object{{"name", name}}}};
}

}  // namespace

std::int64_t Timeline::now() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_).count();
}

void Timeline::end_phase() {
  if (!phase_.empty()) phases_.push_back(event(phase_, "build", phase_start_, now(), 0, {}));
  phase_.clear();
}

void Timeline::phase(std::string name) {
  const std::lock_guard lock(mutex_);
  end_phase();
  phase_ = std::move(name);
  phase_start_ = now();
}

// Lanes count from 1. Lane 0 shows what the build itself does.
std::size_t Timeline::free_lane() const {
  for (std::size_t lane = 1;; ++lane) {
    if (std::ranges::none_of(running_,
                             [&](const auto& entry) { return entry.second.lane == lane; })) {
      return lane;
    }
  }
}

void Timeline::planned(std::size_t stale_steps, std::uint64_t expected_milliseconds) {
  phase("steps");
  if (next != nullptr) next->planned(stale_steps, expected_milliseconds);
}

void Timeline::started(const Step& step, std::uint64_t expected_milliseconds) {
  {
    const std::lock_guard lock(mutex_);
    running_[step.id] = {now(), free_lane()};
  }
  if (next != nullptr) next->started(step, expected_milliseconds);
}

void Timeline::finished(const Step& step, const StepReport& report) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto running = running_.find(step.id); running != running_.end()) {
      Json::Object arguments{{"status", to_string(report.status)}};
      if (!step.module.empty()) arguments.push_back({"module", step.module});
      if (!step.target.empty()) arguments.push_back({"target", step.target});
      arguments.push_back({"reasons", Json::Array(report.reasons.begin(), report.reasons.end())});
      steps_.push_back(event(step.id, std::string(to_string(step.kind)), running->second.start,
                             now(), running->second.lane, std::move(arguments)));
      running_.erase(running);
    }
  }
  if (next != nullptr) next->finished(step, report);
}

std::string Timeline::write() {
  const std::lock_guard lock(mutex_);
  end_phase();
  Json::Array events = {lane_name(0, "kiln")};
  std::int64_t lanes = 0;
  for (const Json& step : steps_) lanes = std::max(lanes, *step.find("tid")->integer());
  for (std::int64_t lane = 1; lane <= lanes; ++lane) {
    events.push_back(lane_name(static_cast<std::size_t>(lane), "steps " + std::to_string(lane)));
  }
  events.insert(events.end(), phases_.begin(), phases_.end());
  events.insert(events.end(), steps_.begin(), steps_.end());
  return write_json(Json::Object{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}},
                    JsonLayout::kCompact);
}

std::filesystem::path timeline_file(const std::filesystem::path& out_root) {
  return out_root / ".kiln" / "timeline.json";
}

Result<void> check_trace_file(const Files& files, const std::filesystem::path& path,
                              const std::filesystem::path& spelling) {
  std::string why = "it is no file";
  const PathKind kind = files.kind(path);
  if (kind == PathKind::kNone) return {};
  if (kind == PathKind::kFile) {
    KILN_TRY_ASSIGN(const std::string text, files.read(path));
    if (text.empty() || text.starts_with(kFirst)) return {};
    why = "it holds something else, which would be lost";
  }
  return Error{ErrorCode::kInvalidInput, quote(spelling.string()) + " cannot be the trace: " + why}
      .hint("name a file that is not there, or that an earlier build wrote: --trace FILE");
}

}  // namespace kiln::tools
