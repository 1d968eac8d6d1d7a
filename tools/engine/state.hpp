// The record of the last build in an out folder: the output of each step, and the ingredients that
// decided it.
//
// Kept in out/.kiln/state as sealed text (tools/system/sealed_text.hpp), version 2. A state that is
// cut short, changed or of another version counts as empty: everything is built again.
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
  // As write_ingredients() writes them. Each build compares the text and parses it only on a
  // difference.
  std::string ingredients;
  Dependencies dependencies;
  Digest output;
  Digest log;
  std::uint64_t milliseconds = 0;  // duration of the tool's last run
};

struct BuildState {
  std::map<std::string, StepRecord> steps;  // by Step::id
  Ingredients finish;  // what decided the catalog and the header of the last complete build
  bool is_changed = false;  // since it was read; whoever changes the state sets it
};

std::string write_state(const BuildState& state);
BuildState read_state(std::string_view file);

}  // namespace kiln::tools
