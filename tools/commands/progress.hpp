// Shows the progress of a build: on a terminal, in a log, or to another program.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tools/commands/world.hpp"
#include "tools/engine/execute.hpp"

namespace kiln::tools {

enum class ProgressStyle : std::uint8_t {
  kTerminal,  // one line that is updated: done/total, running steps, elapsed time, estimated rest
  kLines,     // one line per finished step
  kJson,      // one JSON object per line, on standard output: see docs/INSPECT.md
};

// kTerminal if stderr is a terminal that can update a line, and kLines otherwise.
ProgressStyle style_for(const Environment& environment);

struct ProgressOptions {
  ProgressStyle style = ProgressStyle::kLines;
  bool explain = false;  // tell for each step why it ran
  unsigned jobs = 1;
  std::filesystem::path out = "out";  // the out folder, as the user spells it
};

// Writes to world.err, and JSON to world.out. Shows nothing if there is nothing to do. The
// destructor removes the updated line.
std::unique_ptr<ExecuteObserver> make_progress(const ProgressOptions& options, World& world);

// Replaces "{out}" in the engine's messages by the out folder: "out/hip/a.cu changed".
std::string with_out_folder(std::string text, const std::filesystem::path& out);

// Returns a text such as "0.4 s", "12 s" or "3 min 5 s".
std::string format_duration(std::uint64_t milliseconds);

}  // namespace kiln::tools
