// The environment of a command: the machine, behind three small interfaces, and the streams for its
// output.
//
// A command is `Result<int> run_<name>(const <Name>Options&, World&)`. It returns the exit status,
// or the error that main.cpp prints. Commands compose stages and print results; they make no
// decisions.
#pragma once

#include <ostream>

#include "base/diagnostic.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::tools {

struct World {
  Files& files;
  Processes& processes;
  const Environment& environment;
  std::ostream& out;  // results
  std::ostream& err;  // progress and warnings; errors are returned
  Color out_color = Color::kNo;
  Color err_color = Color::kNo;
  const Interrupt* interrupt = nullptr;  // raised by Ctrl-C; null: never
};

// True for a terminal that shows only plain text: no colours, no updated lines.
inline bool is_dumb_terminal(const Environment& environment) {
  return environment.get("TERM").value_or("") == "dumb";
}

// Uses colours on a terminal that can show them, unless NO_COLOR is set (no-color.org).
inline Color color_for(const Environment& environment, bool is_terminal) {
  const bool refused = !environment.get("NO_COLOR").value_or("").empty() || is_dumb_terminal(environment);
  return is_terminal && !refused ? Color::kYes : Color::kNo;
}

}  // namespace kiln::tools
