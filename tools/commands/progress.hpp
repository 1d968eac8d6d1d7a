// What a build shows while it runs, on a terminal, in a log, or to another program.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tools/commands/world.hpp"
#include "tools/engine/execute.hpp"

namespace kiln::tools {

enum class ProgressStyle : std::uint8_t {
  kTerminal,  // one line, updated: done/total, what runs, elapsed, estimated rest
  kLines,     // a line a finished step
  kJson,      // a JSON object a line, on standard output: see docs/INSPECT.md
};

// The terminal's where stderr is one that an updated line can be shown on, else lines.
ProgressStyle style_for(const Environment& environment);

struct ProgressOptions {
  ProgressStyle style = ProgressStyle::kLines;
  bool explain = false;  // say for each step why it ran
  unsigned jobs = 1;
  std::filesystem::path out = "out";  // the out folder, as the user spells it
};

// Writes to world.err, JSON to world.out. Nothing is shown where nothing is to do. Destroying it takes
// the updated line away.
std::unique_ptr<ExecuteObserver> make_progress(const ProgressOptions& options, World& world);

// "out/hip/a.cu changed": what the engine says of a step, with the out folder in place of "{out}".
std::string with_out_folder(std::string text, const std::filesystem::path& out);

// "0.4 s", "12 s", "3 min 5 s"
std::string format_duration(std::uint64_t milliseconds);

}  // namespace kiln::tools
