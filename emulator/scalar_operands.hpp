// Reads and writes operands that a wave has once: scalar registers, constants, masks.
#pragma once

#include "emulator/fault.hpp"
#include "emulator/wave.hpp"

namespace kiln::emulator {

enum class Literal : bool { kZeroExtend, kSignExtend };

template <int W>
u32 read_scalar(const Wave& wave, const Instruction& in, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kScalar: return wave.scalar[operand.reg];
    case OperandKind::kInteger:
    case OperandKind::kLiteral: return low_half(operand.value);
    case OperandKind::kFloat: return bits_of(static_cast<float>(double_of(operand.value)));
    case OperandKind::kScc: return wave.scc;
    case OperandKind::kVccIsZero: return read_vcc<W>(wave) == 0;
    case OperandKind::kExecIsZero: return read_exec<W>(wave) == 0;
    case OperandKind::kNone: return 0;
    case OperandKind::kVector: break;
  }
  raise(wave, in, FaultKind::kUnsupported, "a vector register where a scalar is wanted");
}

template <int W>
u64 read_scalar64(const Wave& wave, const Instruction& in, const Operand& operand,
                  Literal literal = Literal::kZeroExtend) {
  switch (operand.kind) {
    case OperandKind::kScalar:
      if (operand.reg == kNull) return 0;
      return combine(wave.scalar[operand.reg], wave.scalar[operand.reg + 1u]);
    case OperandKind::kInteger:
    case OperandKind::kFloat: return operand.value;
    case OperandKind::kLiteral:
      return literal == Literal::kSignExtend
                 ? static_cast<u64>(i64{static_cast<i32>(low_half(operand.value))})
                 : low_half(operand.value);
    case OperandKind::kScc: return wave.scc;
    case OperandKind::kNone: return 0;
    default: break;
  }
  raise(wave, in, FaultKind::kUnsupported, "an operand that has no 64 scalar bits");
}

// Reads a mask with a bit for each lane: one register or two, depending on the wave width.
template <int W>
u64 read_mask(const Wave& wave, const Instruction& in, const Operand& operand) {
  return W == 64 ? read_scalar64<W>(wave, in, operand) : read_scalar<W>(wave, in, operand);
}

inline void require_scalar(const Wave& wave, const Instruction& in, const Operand& operand) {
  if (!operand.is_scalar()) {
    raise(wave, in, FaultKind::kUnsupported, "a destination that is no scalar register");
  }
}
inline void write_scalar(Wave& wave, const Instruction& in, const Operand& operand, u32 value) {
  if (operand.is_none()) return;
  require_scalar(wave, in, operand);
  if (operand.reg != kNull) wave.scalar[operand.reg] = value;
}
inline void write_scalar64(Wave& wave, const Instruction& in, const Operand& operand, u64 value) {
  if (operand.is_none()) return;
  require_scalar(wave, in, operand);
  if (operand.reg == kNull) return;
  wave.scalar[operand.reg] = low_half(value);
  wave.scalar[operand.reg + 1u] = high_half(value);
}
template <int W>
void write_mask(Wave& wave, const Instruction& in, const Operand& operand, u64 mask) {
  if (W == 64) {
    write_scalar64(wave, in, operand, mask);
  } else {
    write_scalar(wave, in, operand, low_half(mask));
  }
}

}  // namespace kiln::emulator
