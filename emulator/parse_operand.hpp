// Parses one operand of an instruction's text.
#pragma once

#include <string_view>

#include "emulator/instruction.hpp"
#include "kiln/result.hpp"

namespace kiln::emulator {

// v3.l and v3.h: gfx11 names halves of registers.
enum class Half : u8 { kNone, kLow, kHigh };

struct ParsedOperand {
  Operand operand;
  Half half = Half::kNone;
};

Result<ParsedOperand> parse_operand(std::string_view text);

}  // namespace kiln::emulator
