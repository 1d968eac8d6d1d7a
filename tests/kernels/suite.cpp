#include "suite.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "values.hpp"

namespace kiln::conformance {
namespace {

constexpr std::size_t kFailuresShown = 5;          // for one kernel on one device
constexpr std::size_t kDeviceFailuresAllowed = 8;  // consecutive

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string show_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

// The results of one kernel on one device.
struct Outcome {
  std::size_t run = 0, failed = 0, values = 0;
  double seconds = 0;
  std::map<std::string, std::size_t> skipped;
  std::string messages;
};

class Run {
 public:
  Run(const std::vector<DeclaredKernel>& kernels, const std::vector<SuiteDevice>& devices,
      const SuiteOptions& options, const std::vector<Unsupported>& unsupported, std::ostream& out)
      : kernels_(kernels),
        devices_(devices),
        options_(options),
        unsupported_(unsupported),
        out_(out),
        results_(kernels.size()),
        failures_in_a_row_(devices.size()) {}

  Summary run() {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < options_.jobs; ++i) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    summary_.declared = kernels_.size();
    for (std::size_t d = 0; d < devices_.size(); ++d) summary_.devices.push_back(summary_of(d));
    return summary_;
  }

 private:
  bool has_stopped(std::size_t device) const {
    return failures_in_a_row_[device] >= kDeviceFailuresAllowed;
  }
  bool all_have_stopped() const {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!has_stopped(d)) return false;
    }
    return true;
  }

  std::string reason_to_skip(const CaseSpec& spec, const SuiteDevice& device) const {
    for (const Unsupported& each : unsupported_) {
      if (matches(each.device, device.id) && matches(each.pattern, spec.name)) {
        return std::string(each.reason);
      }
    }
    const std::size_t most = options_.selection.max_elements;
    if (most != 0 && spec.elements > most) {
      return "larger than --max-elements " + std::to_string(most);
    }
    return {};
  }

  // True if it is this device's turn, of those that share the cases.
  bool is_turn_of(const SuiteDevice& device, const CaseSpec& spec) const {
    if (device.sharers == 1) return true;
    return seed_for(spec.name, options_.selection.seed).own % device.sharers == device.turn;
  }

  // The work of one thread: kernel after kernel, each on all devices.
  void work() {
    std::vector<std::unique_ptr<Executor>> executors;
    for (const SuiteDevice& device : devices_) executors.push_back(device.open());
    for (std::size_t k = next_++; k < kernels_.size(); k = next_++) {
      std::vector<Outcome> results(devices_.size());
      double seconds = 0;
      if (!all_have_stopped()) seconds = run_kernel(kernels_[k], executors, results);
      finish(k, std::move(results), seconds);
    }
  }

  // Returns the seconds spent on data and expected values.
  double run_kernel(const DeclaredKernel& kernel,
                    const std::vector<std::unique_ptr<Executor>>& executors,
                    std::vector<Outcome>& results) {
    double preparing = 0;
    bool is_first = true;
    for (const CaseSpec& spec : cases_of(kernel.module, kernel.name, options_.selection)) {
      if (!is_chosen(options_, spec.name)) continue;
      const bool is_for_all = std::exchange(is_first, false);
      std::optional<PreparedCase> prepared;
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        if (has_stopped(d) || !(is_for_all || is_turn_of(devices_[d], spec))) continue;
        Outcome& result = results[d];
        if (const std::string reason = reason_to_skip(spec, devices_[d]); !reason.empty()) {
          ++result.skipped[reason];
          continue;
        }
        if (!prepared) {
          const auto start = Clock::now();
          const Seed seed = seed_for(spec.name, options_.selection.seed);
          prepared = prepare(spec.build(seed), seed);
          preparing += seconds_since(start);
        }
        const auto start = Clock::now();
        const Verdict verdict = run_case(*prepared, *executors[d]);
        result.seconds += seconds_since(start);
        ++result.run;
        if (!verdict.device_failed) result.values += prepared->values;
        failures_in_a_row_[d] = verdict.device_failed ? failures_in_a_row_[d] + 1 : 0;
        if (!verdict.complaints.empty() && ++result.failed <= kFailuresShown) {
          tell(spec, devices_[d], verdict, result.messages);
        }
      }
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Outcome& result = results[d];
      if (result.failed <= kFailuresShown) continue;
      result.messages += "FAILED on " + devices_[d].id + ": " + kernel.name + ": " +
                         std::to_string(result.failed - kFailuresShown) + " more cases, " +
                         std::to_string(result.failed) + " of " + std::to_string(result.run) +
                         " in all\n";
    }
    return preparing;
  }

  static void tell(const CaseSpec& spec, const SuiteDevice& device, const Verdict& verdict,
                   std::string& messages) {
    messages += "FAILED on " + device.id + ": " + spec.name + '\n';
    for (const std::string& line : verdict.complaints) messages += "    " + line + '\n';
    messages += "    again: " + device.rerun + " --case '" + spec.name + "'\n";
  }

  // Prints the results that are complete, in the order of the kernels.
  void finish(std::size_t kernel, std::vector<Outcome> results, double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    summary_.seconds += seconds;
    results_[kernel] = std::move(results);
    for (; printed_ < kernels_.size() && !results_[printed_].empty(); ++printed_) {
      if (printed_ == 0 || kernels_[printed_].module != kernels_[printed_ - 1].module) {
        first_of_module_ = printed_;
      }
      for (const Outcome& result : results_[printed_]) out_ << result.messages;
      if (printed_ + 1 == kernels_.size() ||
          kernels_[printed_ + 1].module != kernels_[printed_].module) {
        print_module();
      }
    }
    out_ << std::flush;
  }

  void print_module() const {
    std::size_t run = 0, failed = 0;
    for (std::size_t k = first_of_module_; k <= printed_; ++k) {
      for (const Outcome& result : results_[k]) {
        run += result.run;
        failed += result.failed;
      }
    }
    if (run == 0) return;
    out_ << kernels_[printed_].module << ": " << counted(printed_ + 1 - first_of_module_, "kernel")
         << ", " << counted(run, "run") << ", "
         << (failed == 0 ? std::string("all right") : std::to_string(failed) + " FAILED") << '\n';
  }

  DeviceSummary summary_of(std::size_t device) const {
    DeviceSummary summary;
    summary.device = devices_[device].id;
    summary.stopped = has_stopped(device);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const Outcome& result = results_[k][device];
      summary.run += result.run;
      summary.failed += result.failed;
      summary.seconds += result.seconds;
      for (const auto& [reason, count] : result.skipped) summary.skipped[reason] += count;
      if (result.values != 0) {
        ++summary.covered;
      } else {
        summary.uncovered.push_back(kernels_[k].name);
      }
    }
    return summary;
  }

  const std::vector<DeclaredKernel>& kernels_;
  const std::vector<SuiteDevice>& devices_;
  const SuiteOptions& options_;
  const std::vector<Unsupported>& unsupported_;
  std::ostream& out_;

  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // guards the members below, except for the counters
  Summary summary_;
  std::vector<std::vector<Outcome>> results_;  // by kernel and device; empty until it is done
  std::size_t printed_ = 0, first_of_module_ = 0;
  std::vector<std::atomic<std::size_t>> failures_in_a_row_;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at) {
    if (matches(rest, text.substr(at))) return true;
  }
  return false;
}

bool takes_every_kernel(const SuiteOptions& options) {
  return options.patterns.empty() || std::ranges::count(options.patterns, "*") != 0;
}

bool takes_every_case(const SuiteOptions& options) {
  return takes_every_kernel(options) && options.selection.random == 0;
}

bool is_chosen(const SuiteOptions& options, std::string_view name) {
  return options.patterns.empty() ||
         std::ranges::any_of(options.patterns,
                             [&](const std::string& each) { return matches(each, name); });
}

Summary run_suite(const std::vector<DeclaredKernel>& kernels,
                  const std::vector<SuiteDevice>& devices, const SuiteOptions& options,
                  const std::vector<Unsupported>& unsupported, std::ostream& out) {
  return Run(kernels, devices, options, unsupported, out).run();
}

bool conclude(const Summary& summary, const SuiteOptions& options, std::ostream& out) {
  const bool whole = takes_every_case(options);
  bool passed = !summary.devices.empty();
  for (const DeviceSummary& each : summary.devices) {
    for (const auto& [reason, count] : each.skipped) {
      out << each.device << ": skipped " << count << " cases: " << reason << '\n';
    }
    if (takes_every_kernel(options)) {
      for (const std::string& kernel : each.uncovered) {
        out << each.device << ": not covered: " << kernel << '\n';
      }
    }
    if (each.stopped) {
      out << each.device << ": stopped, for it failed " << kDeviceFailuresAllowed
          << " times in a row\n";
    }
    out << each.device << ": cases run: " << each.run << ", failed: " << each.failed;
    if (takes_every_kernel(options)) {
      out << "; kernels covered / kernels declared: " << each.covered << " / " << summary.declared;
    } else if (each.run == 0) {
      out << "; no case matches";
      for (const std::string& pattern : options.patterns) out << " '" << pattern << "'";
    }
    out << "; " << show_seconds(each.seconds) << '\n';
    passed = passed && each.failed == 0 && each.run != 0 && !each.stopped &&
             (!whole || each.covered == summary.declared);
  }
  out << "data and expectations: " << show_seconds(summary.seconds) << '\n';
  return passed;
}

}  // namespace kiln::conformance
