// Runs cases on all devices of a run and judges them; counts kernels covered against kernels
// declared.
//
// Knows neither devices (executor.hpp) nor operations (families/).
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

// Bytes before and after each operand that no kernel may change.
inline constexpr std::size_t kGuardBytes = 512;

// A case in memory, with all that it may leave there: made once, run on each device.
struct PreparedCase {
  // An operand: guard band, elements, guard band.
  struct Placed {
    std::size_t first;  // byte of the first element
    std::vector<std::byte> before;
    std::vector<Expected> expected;  // of each element; empty where the operand is only read
  };

  Case subject;
  std::vector<Placed> placed;  // as the case's operands
  // Elements that are wrong unless the kernel writes them: comparing them tells something.
  std::size_t values = 0;
};
PreparedCase prepare(Case subject, const Seed& seed);

// What was wrong with one run of a case; no complaints when it passed.
struct Verdict {
  std::vector<std::string> complaints;  // the first few, a line each
  bool device_failed = false;           // nothing could be judged
};
Verdict run_case(const PreparedCase& subject, Executor& executor);

struct DeclaredKernel {
  std::string module, name;
};

// Cases that cannot run on some devices, and why. Patterns as in SuiteOptions.
struct Unsupported {
  std::string_view device, pattern, reason;
};

// A device of a run.
struct SuiteDevice {
  std::string id;     // for messages, and for Unsupported
  std::string rerun;  // the command that runs a case on it again, without --case
  // Called once by each thread that runs cases; the executor is used by that thread alone.
  std::function<std::unique_ptr<Executor>()> open;
};

struct SuiteOptions {
  std::vector<std::string> patterns;  // of case names; '*' stands for any letters; none: every case
  Selection selection = Selection::kUsual;
  std::uint64_t seed = 1;
  std::size_t max_elements = 0;  // larger cases are skipped; 0: none is
  unsigned jobs = 1;             // threads; each takes kernel after kernel
};

// What came of one device.
struct DeviceSummary {
  std::string device;
  std::size_t covered = 0;                     // kernels of which values were compared
  std::size_t run = 0, failed = 0;             // cases
  std::map<std::string, std::size_t> skipped;  // cases, by reason
  std::vector<std::string> uncovered;          // the other kernels
  bool stopped = false;                        // it stopped answering
  double seconds = 0;                          // in its launches and the judging, over all threads
};
struct Summary {
  std::size_t declared = 0;  // kernels
  double seconds = 0;        // in making data and expectations, over all threads
  std::vector<DeviceSummary> devices;
};

// Runs the cases of each kernel that match the pattern: each is made once, then run on all devices.
// Prints a line per module, and for each failing case the device, what is wrong there, and how to
// run it alone.
Summary run_suite(const std::vector<DeclaredKernel>& kernels,
                  const std::vector<SuiteDevice>& devices, const SuiteOptions& options,
                  const std::vector<Unsupported>& unsupported, std::ostream& out);

// Prints a line per device. True when on each every case passed and every declared kernel was
// covered; with a narrower pattern, when every case passed and at least one ran.
bool conclude(const Summary& summary, const SuiteOptions& options, std::ostream& out);

// Whether `text` matches a pattern in which '*' stands for any letters.
bool matches(std::string_view pattern, std::string_view text);
bool takes_every_case(const SuiteOptions& options);
bool is_chosen(const SuiteOptions& options, std::string_view name);

}  // namespace kiln::conformance
