// A decoded instruction, ready to run, with operands and modifiers as numbers.
#pragma once

#include <array>

#include "emulator/numbers.hpp"

namespace kiln::emulator {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave&, const Instruction&);

// Scalar registers by number. Those from 106 on have names.
enum ScalarRegister : u16 {
  kVcc = 106,
  kTrapTemporaries = 108,
  kM0 = 124,
  kNull = 125,
  kExec = 126,
  kFlatScratch = 128,
  kXnackMask = 130,
  kScalarRegisters = 136,
};
// Accumulation registers follow the vector registers.
inline constexpr u16 kFirstAccumulator = 256;

enum class OperandKind : u8 {
  kNone,
  kVector,
  kScalar,
  kInteger,  // an inline constant
  kFloat,    // an inline constant; the value is the bits of a double
  kLiteral,  // the 32 bits after the instruction
  kScc,
  kVccIsZero,
  kExecIsZero,
};

// The part of a register that an operand is (SDWA).
enum Part : u8 { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };

struct Operand {
  OperandKind kind = OperandKind::kNone;
  bool absolute = false;
  bool negate = false;
  bool sign_extend = false;  // SDWA
  bool plain = false;        // a whole vector register, without modifiers and read by its own lanes
  u8 registers = 1;          // number that the text names: 4 for v[0:3]
  Part part = kDword;
  u16 reg = 0;
  u64 value = 0;

  bool is_vector() const { return kind == OperandKind::kVector; }
  bool is_scalar() const { return kind == OperandKind::kScalar; }
  bool is_none() const { return kind == OperandKind::kNone; }
};

enum class LaneMap : u8 { kOwn, kDpp16, kDpp8 };
enum class UnusedPart : u8 { kZero, kSignExtend, kPreserve };

// The class that an instruction is counted in.
enum class InstructionClass : u8 {
  kVectorFloat,
  kVectorInteger,
  kMatrix,
  kScalar,
  kScalarLoad,
  kLoad,
  kStore,
  kAtomic,
  kLds,
  kBranch,
  kBarrier,
  kWait,
};
inline constexpr std::size_t kInstructionClasses = 12;

struct Instruction {
  Handler run = nullptr;  // null: the emulator lacks it
  u64 address = 0;
  u32 index = 0;   // in the program
  u32 next = 0;    // index of the next instruction
  u32 target = 0;  // index of a branch's target

  std::array<Operand, 6> operands;
  u8 operand_count = 0;
  u8 destination_count = 0;  // destinations come first
  InstructionClass kind = InstructionClass::kScalar;
  bool is_vector = false;  // a v_ instruction; its registers may be indexed

  // Modifiers that have a bit for each source.
  u8 op_sel = 0;
  u8 op_sel_hi = 0;
  u8 neg_lo = 0;
  u8 neg_hi = 0;
  bool op_sel_destination = false;

  bool clamp = false;
  u8 output_scale = 0;  // 1: times 2, 2: times 4, 3: halved

  LaneMap lanes = LaneMap::kOwn;
  u8 row_mask = 0;
  u8 bank_mask = 0;
  bool bound_control = false;
  bool fetch_inactive = false;
  u16 dpp_control = 0;
  u32 dpp8_selectors = 0;

  bool sdwa = false;
  Part destination_part = kByte0;
  UnusedPart unused = UnusedPart::kZero;

  bool returns_old = false;  // glc, sc0
  bool offset_enable = false;
  bool index_enable = false;
  bool to_lds = false;
  i32 offset = 0;
  i32 offset0 = 0;
  i32 offset1 = 0;

  i32 immediate = 0;              // the low 16 bits of the first word
  std::array<u32, 2> words = {};  // as encoded
};

}  // namespace kiln::emulator
