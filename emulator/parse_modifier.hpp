// Parses one modifier of an instruction's text: "offset:16", "op_sel:[0,1]", "row_shr:1", "clamp".
#pragma once

#include <string_view>

#include "emulator/instruction.hpp"

namespace kiln::emulator {

struct Modifier {
  std::string_view name;
  std::string_view value;
};

// Applies the modifier to an instruction whose operands are already set. `name` is the canonical
// name. Returns false if there is no such modifier.
bool apply_modifier(const Modifier& modifier, std::string_view name, Instruction& in);

}  // namespace kiln::emulator
