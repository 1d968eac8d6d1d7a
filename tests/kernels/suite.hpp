// Runs cases and judges them; counts kernels covered against kernels declared.
//
// Knows neither devices (executor.hpp) nor operations (families/).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "case.hpp"
#include "executor.hpp"

namespace kiln::conformance {

// Bytes before and after each operand that no kernel may change.
inline constexpr std::size_t kGuardBytes = 512;

// What was wrong with one run of a case; empty when it passed.
struct Verdict {
  std::vector<std::string> complaints;  // the first few, a line each
  bool device_failed = false;           // nothing could be judged
};
Verdict run_case(const Case& subject, const Seed& seed, Executor& executor);

struct DeclaredKernel {
  std::string module, name;
};

// A case that cannot run on some devices, and why. Patterns as SuiteOptions::pattern.
struct Unsupported {
  std::string_view device, pattern, reason;
};

struct SuiteOptions {
  std::string device;         // its id, for messages and kUnsupported
  std::string pattern = "*";  // of case names; '*' stands for any letters
  std::uint64_t seed = 1;
  std::size_t max_elements = 0;  // larger cases are skipped; 0: none is
  std::string rerun;             // the command that runs a case again, without --case
};

struct Summary {
  std::size_t declared = 0, covered = 0;       // kernels
  std::size_t run = 0, failed = 0;             // cases
  std::map<std::string, std::size_t> skipped;  // cases, by reason
  std::vector<std::string> uncovered;          // kernels of which no case ran
  bool stopped = false;                        // the device stopped answering
};

// Runs the cases of each kernel that match the pattern. Prints a line per module, and for each
// failing case what is wrong and how to run it alone.
Summary run_suite(const std::vector<DeclaredKernel>& kernels, const SuiteOptions& options,
                  const std::vector<Unsupported>& unsupported, Executor& executor,
                  std::ostream& out);

// Prints the totals. True when every case passed and every declared kernel was covered; with a
// narrower pattern, when every case passed and at least one ran.
bool conclude(const Summary& summary, const SuiteOptions& options, std::ostream& out);

// Whether `text` matches a pattern in which '*' stands for any letters.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace kiln::conformance
