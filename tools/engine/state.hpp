// What the last build in an out folder did: for each step, what decided its output, and the output.
//
// Kept in out/.kiln/state, sealed text (tools/system/sealed_text.hpp), version 2. A state that is cut
// short, changed or of another version is an empty one: everything is built again, nothing breaks.
//
//   file       = { "file " digest " " path }  { "is " label "\t" value }  steps
//                { "finish " label "\t" value }
//   steps      = { "step " id
//                  "has" { " " first "-" last }          the ingredients, by the indices of "is" lines
//                  "reads" { " " index of a file line }  the dependencies that the tool reported
//                  "made " digest of output " " digest of log " " milliseconds }
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/digest.hpp"
#include "tools/engine/dependencies.hpp"
#include "tools/engine/ingredients.hpp"

namespace kiln::tools {

struct StepRecord {
  // As write_ingredients() has them: they are compared at each build, and read where they differ.
  std::string ingredients;
  Dependencies dependencies;
  Digest output;
  Digest log;
  std::uint64_t milliseconds = 0;  // what the tool took when it last ran
};

struct BuildState {
  std::map<std::string, StepRecord> steps;  // by Step::id
  Ingredients finish;  // what decided the catalog and the header, as of the last whole build
  bool is_changed = false;  // not as it was read; whoever changes it says so
};

std::string write_state(const BuildState& state);
BuildState read_state(std::string_view file);

}  // namespace kiln::tools
