#include "suite.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "families/family.hpp"
#include "values.hpp"

namespace kiln::conformance {
namespace {

constexpr std::size_t kComplaintsShown = 3;        // of one case
constexpr std::size_t kFailuresShown = 5;          // of one kernel
constexpr std::size_t kDeviceFailuresAllowed = 8;  // one after another

// An operand in memory: guard band, elements, guard band.
struct Placed {
  std::size_t first;  // byte of the first element
  std::size_t bytes;
  std::vector<std::byte> before;
};

Placed place(const Operand& operand, Random& random) {
  Placed placed;
  placed.first = kGuardBytes + operand.misalignment * size_of(operand.dtype);
  placed.bytes = operand.content.size();
  placed.before = poison(placed.first + placed.bytes + kGuardBytes, random);
  std::copy(operand.content.begin(), operand.content.end(),
            placed.before.begin() + static_cast<std::ptrdiff_t>(placed.first));
  return placed;
}

void judge_guards(const Operand& operand, const Placed& placed, const std::vector<std::byte>& after,
                  std::vector<std::string>& complaints) {
  const auto first_difference = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (after[i] != placed.before[i]) return i;
    }
    return to;
  };
  const std::size_t end = placed.first + placed.bytes;
  if (const std::size_t at = first_difference(0, placed.first); at != placed.first) {
    complaints.push_back(operand.name + ": written " + std::to_string(placed.first - at) +
                         " bytes before its start");
  }
  if (const std::size_t at = first_difference(end, after.size()); at != after.size()) {
    complaints.push_back(operand.name + ": written " + std::to_string(at - end + 1) +
                         " bytes after its end");
  }
}

void judge_elements(const Operand& operand, const Placed& placed,
                    const std::vector<std::byte>& after, std::vector<std::string>& complaints) {
  const std::size_t width = size_of(operand.dtype);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < operand.count(); ++i) {
    const std::size_t at = placed.first + i * width;
    const Bits actual = load(operand.dtype, after.data() + at);
    const Expected expected =
        operand.expected ? operand.expected(i)
                         : Expected::exactly(load(operand.dtype, placed.before.data() + at));
    if (expected.admits(operand.dtype, actual)) continue;
    if (++wrong <= kComplaintsShown) {
      complaints.push_back(operand.name + "[" + std::to_string(i) +
                           "]: " + show(operand.dtype, actual) + ", expected " +
                           expected.describe(operand.dtype) +
                           (operand.expected ? "" : ": an input was changed"));
    }
  }
  if (wrong > kComplaintsShown) {
    complaints.push_back(operand.name + ": " + std::to_string(wrong) + " of " +
                         std::to_string(operand.count()) + " elements are wrong");
  }
}

std::string seconds_since(std::chrono::steady_clock::time_point start) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return text;
}

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

Verdict run_case(const Case& subject, const Seed& seed, Executor& executor) {
  Random random(seed.own);
  std::vector<Placed> placed;
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::byte>> contents;
  for (const Operand& operand : subject.operands) {
    placed.push_back(place(operand, random));
    sizes.push_back(placed.back().before.size());
    contents.push_back(placed.back().before);
  }
  const auto failed = [](const Error& error, bool device_failed) {
    Verdict verdict{{error.message}, device_failed};
    for (const Note& note : error.notes) verdict.complaints.push_back(note.text);
    return verdict;
  };
  const auto pieces = executor.place(sizes);
  if (!pieces) return failed(pieces.error(), true);
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    addresses.push_back((*pieces)[i] + placed[i].first);
  }
  const auto launch = subject.plan(addresses);
  if (!launch) return failed(launch.error(), false);
  if (const auto ran = executor.run(*launch, contents); !ran) return failed(ran.error(), true);

  Verdict verdict;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    judge_guards(subject.operands[i], placed[i], contents[i], verdict.complaints);
    judge_elements(subject.operands[i], placed[i], contents[i], verdict.complaints);
  }
  return verdict;
}

Summary run_suite(const std::vector<DeclaredKernel>& kernels, const SuiteOptions& options,
                  const std::vector<Unsupported>& unsupported, Executor& executor,
                  std::ostream& out) {
  const auto reason_to_skip = [&](const CaseSpec& spec) -> std::string {
    for (const Unsupported& each : unsupported) {
      if (matches(each.device, options.device) && matches(each.pattern, spec.name)) {
        return std::string(each.reason);
      }
    }
    if (options.max_elements != 0 && spec.elements > options.max_elements) {
      return "larger than --max-elements " + std::to_string(options.max_elements);
    }
    return {};
  };

  Summary summary;
  summary.declared = kernels.size();
  std::size_t device_failures = 0;
  for (std::size_t first = 0; first < kernels.size() && !summary.stopped;) {
    const std::string& module = kernels[first].module;
    const auto start = std::chrono::steady_clock::now();
    std::size_t module_run = 0, module_failed = 0, last = first;
    for (; last < kernels.size() && kernels[last].module == module && !summary.stopped; ++last) {
      std::size_t kernel_run = 0, kernel_failed = 0;
      for (const CaseSpec& spec : cases_of(module, kernels[last].name)) {
        if (!matches(options.pattern, spec.name)) continue;
        if (const std::string reason = reason_to_skip(spec); !reason.empty()) {
          ++summary.skipped[reason];
          continue;
        }
        const Seed seed = seed_for(spec.name, options.seed);
        const Verdict verdict = run_case(spec.build(seed), seed, executor);
        ++kernel_run;
        device_failures = verdict.device_failed ? device_failures + 1 : 0;
        if (!verdict.complaints.empty() && ++kernel_failed <= kFailuresShown) {
          out << "FAILED " << spec.name << '\n';
          for (const std::string& line : verdict.complaints) out << "    " << line << '\n';
          out << "    again: " << options.rerun << " --case '" << spec.name << "'\n";
        }
        if (device_failures >= kDeviceFailuresAllowed) {
          summary.stopped = true;
          break;
        }
      }
      if (kernel_failed > kFailuresShown) {
        out << "FAILED " << kernels[last].name << ": " << kernel_failed - kFailuresShown
            << " more cases, " << kernel_failed << " of " << kernel_run << " in all\n";
      }
      if (kernel_run != 0) {
        ++summary.covered;
      } else {
        summary.uncovered.push_back(kernels[last].name);
      }
      module_run += kernel_run;
      module_failed += kernel_failed;
    }
    if (module_run != 0) {
      out << module << ": " << counted(last - first, "kernel") << ", " << counted(module_run, "case") << ", "
          << (module_failed == 0 ? std::string("all right")
                                 : std::to_string(module_failed) + " FAILED")
          << ", " << seconds_since(start) << '\n'
          << std::flush;
    }
    summary.run += module_run;
    summary.failed += module_failed;
    first = last;
  }
  return summary;
}

bool conclude(const Summary& summary, const SuiteOptions& options, std::ostream& out) {
  for (const auto& [reason, count] : summary.skipped) {
    out << "skipped " << count << " cases: " << reason << '\n';
  }
  if (summary.stopped) {
    out << "stopped: " << options.device << " failed " << kDeviceFailuresAllowed
        << " times in a row\n";
  }
  out << "cases run: " << summary.run << ", failed: " << summary.failed << '\n';
  const bool passed = summary.failed == 0 && summary.run != 0 && !summary.stopped;
  if (options.pattern != "*") {
    if (summary.run == 0) out << "no case matches '" << options.pattern << "'\n";
    return passed;
  }
  for (const std::string& kernel : summary.uncovered) out << "not covered: " << kernel << '\n';
  out << "kernels covered / kernels declared: " << summary.covered << " / " << summary.declared
      << '\n';
  return passed && summary.covered == summary.declared;
}

}  // namespace kiln::conformance
