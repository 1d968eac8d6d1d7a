// kiln __complete: what a shell offers for a word that only a file knows. Not in --help; the shells' functions
// of 'kiln completions' ask it.
#pragma once

#include <filesystem>
#include <string>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct CompleteOptions {
  std::string what;            // "targets", "modules" of a manifest or build; "kernels" of an image
  std::filesystem::path file;  // which the command line names; empty: none
};

// A name a line; none where there is no such file. Never fails.
Result<int> run_complete(const CompleteOptions& options, World& world);

}  // namespace kiln::tools
