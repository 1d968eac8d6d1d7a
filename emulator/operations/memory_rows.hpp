// Common to loads and stores of every kind of memory: the part of a register that they use.
#pragma once

#include "emulator/operations/rows.hpp"

namespace kiln::emulator {

enum class Extend : u8 { kZero, kSign };
enum class Into : u8 { kWhole, kLowHalf, kHighHalf };  // d16 loads keep the other half
enum class From : u8 { kWhole, kHighHalf };

// Returns the new first dword of the register, whose old value is `old`.
template <u32 kBytes, Extend kExtend, Into kInto>
u32 placed(u32 loaded, u32 old) {
  u32 value = loaded;
  if constexpr (kExtend == Extend::kSign) {
    value = kBytes == 1 ? static_cast<u32>(i32{static_cast<i8>(loaded)})
                        : static_cast<u32>(i32{static_cast<i16>(loaded)});
  }
  switch (kInto) {
    case Into::kWhole: return value;
    case Into::kLowHalf: return (old & 0xffff0000u) | (value & 0xffff);
    case Into::kHighHalf: break;
  }
  return (old & 0xffff) | value << 16;
}

}  // namespace kiln::emulator
