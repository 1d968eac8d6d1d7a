// Processes that are functions: the path of a program selects the function, which acts on the fake
// files.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tests/support/faults.hpp"
#include "tools/system/process.hpp"

namespace kiln::testing {

class FakeProcesses final : public tools::Processes {
 public:
  using Program = std::function<tools::Outcome(const tools::Command&)>;

  Faults starts;

  void add(std::string path, Program program) { programs_[std::move(path)] = std::move(program); }

  Result<tools::Outcome> run(const tools::Command& command) override {
    Program program;
    {
      const std::lock_guard lock(mutex_);
      ran_.push_back(command);
      const auto found = programs_.find(command.argv.at(0));
      if (starts.strike() || found == programs_.end()) {
        return Error{ErrorCode::kEnvironment,
                     "cannot start " + quote(command.argv.at(0)) + ": Resource temporarily unavailable",
                     {},
                     {}};
      }
      program = found->second;
    }
    return program(command);
  }

  // Returns every command that was run, in the order of their starts.
  std::vector<tools::Command> ran() const {
    const std::lock_guard lock(mutex_);
    return ran_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    ran_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Program> programs_;
  std::vector<tools::Command> ran_;
};

}  // namespace kiln::testing
