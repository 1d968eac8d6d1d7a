// Parses the text of the disassembler into instructions that can be run.
//
//   text      = mnemonic [operand {"," operand}] {" " modifier} | text " :: " text
//   operand   = register | constant | "-" operand | "|" operand "|" | "sext(" operand ")" ...
//   modifier  = name [":" value]                         offset:16  op_sel:[0,1]  row_shr:1
//
// Grammar: LLVM, "AMDGPU Operand Syntax" and "AMDGPU Instruction Modifiers".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/instruction.hpp"
#include "kiln/result.hpp"

namespace kiln::emulator {

// An instruction with everything that its text says. `name` is the canonical name.
struct ParsedInstruction {
  std::string name;
  Instruction instruction;
};

// Returns one instruction. For a text with two halves that run at once (v_dual_), returns two or
// three, in an order in which neither half overwrites a register that the other half still reads.
// `spare` is a vector register that may be used for a copy.
Result<std::vector<ParsedInstruction>> parse_instruction(std::string_view text,
                                                         std::array<u32, 2> words, u16 spare);

}  // namespace kiln::emulator
