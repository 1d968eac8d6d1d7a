// A world of commands with its own files and processes, in folder /w.
#pragma once

#include <sstream>

#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tools/commands/world.hpp"

namespace kiln::testing {

struct FakeWorld {
  FakeFiles files;
  FakeProcesses processes;
  tools::Environment environment;
  std::ostringstream out, err;
  tools::World world{.files = files, .processes = processes, .environment = environment, .out = out, .err = err};

  FakeWorld() { environment.current_directory = "/w"; }
};

}  // namespace kiln::testing
