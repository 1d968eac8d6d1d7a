// Runs cases on all devices of a run, judges the results, and counts the covered kernels among the
// declared ones.
//
// Depends neither on devices (executor.hpp) nor on operations (families/).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "case.hpp"
#include "executor.hpp"
#include "families/family.hpp"

namespace kiln::conformance {

// Number of bytes before and after each operand that no kernel may change.
inline constexpr std::size_t kGuardBytes = 512;

// A case in memory with the permitted results. It is made once and run on each device.
struct PreparedCase {
  // An operand: guard band, elements, guard band.
  struct Placed {
    std::size_t first;  // byte of the first element
    std::vector<std::byte> before;
    std::vector<Expected> expected;  // of each element; empty for a read-only operand
  };

  Case subject;
  std::vector<Placed> placed;  // in the order of the case's operands
  // Number of elements that are wrong unless the kernel writes them, so that comparing them is
  // meaningful.
  std::size_t values = 0;
};
PreparedCase prepare(Case subject, const Seed& seed);

// The faults of one run of a case; no complaints if it passed.
struct Verdict {
  std::vector<std::string> complaints;  // the first few, one a line
  bool device_failed = false;           // nothing could be judged
};
Verdict run_case(const PreparedCase& subject, Executor& executor);

struct DeclaredKernel {
  std::string module, name;
};

// Cases that cannot run on some devices, with the reason. Patterns are as in SuiteOptions.
struct Unsupported {
  std::string_view device, pattern, reason;
};

// A device of a run.
struct SuiteDevice {
  std::string id;     // for messages, and for Unsupported
  std::string rerun;  // the command that reruns a case on it, without --case
  // Called once by each thread that runs cases. Only that thread uses the executor.
  std::function<std::unique_ptr<Executor>()> open;
  // This device is number `turn` of `sharers` devices. Each case runs on one of them, the first case
  // of each kernel on all.
  unsigned sharers = 1, turn = 0;
};

struct SuiteOptions {
  std::vector<std::string> patterns;  // of case names; '*': any letters; empty: every case
  Selection selection;
  unsigned jobs = 1;  // threads; each takes one kernel after another
};

// The results for one device.
struct DeviceSummary {
  std::string device;
  std::size_t covered = 0;                     // kernels whose values were compared
  std::size_t run = 0, failed = 0;             // cases
  std::map<std::string, std::size_t> skipped;  // cases, by reason
  std::vector<std::string> uncovered;          // the other kernels
  bool stopped = false;                        // the device stopped responding
  double seconds = 0;                          // for its launches and for judging, over all threads
};
struct Summary {
  std::size_t declared = 0;  // kernels
  double seconds = 0;        // for making data and expected values, over all threads
  std::vector<DeviceSummary> devices;
};

// Runs the cases of each kernel that match the patterns. Each case is made once and then run on all
// devices. Prints a line for each module and, for each failing case, the device, the faults, and
// the command that runs the case alone.
Summary run_suite(const std::vector<DeclaredKernel>& kernels,
                  const std::vector<SuiteDevice>& devices, const SuiteOptions& options,
                  const std::vector<Unsupported>& unsupported, std::ostream& out);

// Prints a line for each device. Returns true if, on each device, every case passed and every
// declared kernel was covered; with a narrower pattern, if every case passed and at least one ran.
bool conclude(const Summary& summary, const SuiteOptions& options, std::ostream& out);

// Returns true if `text` matches a pattern in which '*' stands for any letters.
bool matches(std::string_view pattern, std::string_view text);
bool takes_every_kernel(const SuiteOptions& options);
// Returns true if all listed cases are run.
bool takes_every_case(const SuiteOptions& options);
bool is_chosen(const SuiteOptions& options, std::string_view name);

}  // namespace kiln::conformance
