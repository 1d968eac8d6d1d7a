// Child processes, started from argument vectors, never from shell strings.
//
// stdin is /dev/null. stdout and stderr are captured separately and completely, through pipes that
// no other child inherits. Each child leads its own process group, so that Ctrl-C ends it with its
// children. Processes is an interface with a real implementation and a scripted one
// (tests/support).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/result.hpp"
#include "tools/system/interrupt.hpp"

namespace kiln::tools {

enum class Inherit : bool { kNothing, kEverything };

struct Command {
  std::vector<std::string> argv;  // argv[0] is a path
  // added to, or replacing, the inherited variables
  std::vector<std::pair<std::string, std::string>> environment;
  // variables that the child must not see
  std::vector<std::string> unset;
  std::filesystem::path working_directory;  // empty: this process's
  Inherit inherit = Inherit::kEverything;   // of this process's environment
};

struct Outcome {
  int exit_code = 0;       // 128 + n when ended by signal n
  int signal = 0;          // 0 unless ended by one
  std::string output;      // stdout
  std::string diagnostics; // stderr
  std::chrono::microseconds duration{0};
  bool ok() const { return exit_code == 0 && signal == 0; }
};

class Processes {
 public:
  virtual ~Processes() = default;
  // Runs a child to its end. A child that failed is an Outcome. Errors: kEnvironment if the program
  // could not be started, kInterrupted if the user asked to stop. On an interrupt, the child's
  // group is told to end (SIGTERM), killed if it has not ended within `kGracePeriod` or if the user
  // asks again, and waited for. Thread-safe.
  virtual Result<Outcome> run(const Command& command) = 0;
};

inline constexpr std::chrono::milliseconds kGracePeriod{2000};

// If `interrupt` is raised, running children are ended and none is started. It must outlive the
// result.
std::unique_ptr<Processes> real_processes(const Interrupt* interrupt = nullptr);

}  // namespace kiln::tools
