// Child processes: argv vectors, never shell strings.
//
// stdin is /dev/null; stdout and stderr are captured, apart and whole, through pipes that no other
// child inherits. Each child leads its own process group, so that Ctrl-C ends it with its children.
// Processes is an interface with one real implementation and one scripted one (tests/support).
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
  std::vector<std::string> argv;                                // argv[0] is a path
  std::vector<std::pair<std::string, std::string>> environment;  // added to, or replacing, what
                                                                 // is inherited
  std::vector<std::string> unset;                               // variables the child must not see
  std::filesystem::path working_directory;                      // empty: ours
  Inherit inherit = Inherit::kEverything;                       // of our environment
};

struct Outcome {
  int exit_code = 0;       // 128 + n when ended by signal n
  int signal = 0;          // 0 unless ended by one
  std::string output;      // stdout, kept apart
  std::string diagnostics; // stderr
  std::chrono::microseconds duration{0};
  bool ok() const { return exit_code == 0 && signal == 0; }
};

class Processes {
 public:
  virtual ~Processes() = default;
  // Runs to the end. The error (kEnvironment) tells that the program could not be started at all; a
  // child that failed is an Outcome. kInterrupted when the user asked to stop: the child's group has
  // then been told to end (SIGTERM), killed where it did not within `kGrace` or when the user asked
  // again, and waited for.
  // Safe to call from several threads at once.
  virtual Result<Outcome> run(const Command& command) = 0;
};

inline constexpr std::chrono::milliseconds kGrace{2000};

// With `interrupt` (which must outlive the result), runs end when it is raised and none starts later.
std::unique_ptr<Processes> real_processes(const Interrupt* interrupt = nullptr);

}  // namespace kiln::tools
