// The addresses that the lanes of a vector memory instruction access.
#pragma once

#include "emulator/apertures.hpp"
#include "emulator/dispatch.hpp"
#include "emulator/memory_access.hpp"
#include "emulator/scalar_operands.hpp"

namespace kiln::emulator {

// The instruction's family: global_, flat_, scratch_, buffer_.
enum class Form : u8 { kGlobal, kFlat, kScratch, kBuffer };

// The operands of an address: a vector, a base in scalar registers, and the offset of a buffer.
struct AddressOperands {
  const Operand& vector;
  const Operand& scalar;
  const Operand& offset;
};

inline Location flat_location(u64 address) {
  if (high_half(address) == kSharedAperture) return {Space::kLds, low_half(address), 0};
  if (high_half(address) == kPrivateAperture) return {Space::kScratch, low_half(address), 0};
  return {Space::kGlobal, address, 0};
}

// Sets `outside` if the access is beyond the size in the descriptor of the buffer, where loads give
// 0 and stores do nothing.
template <int W>
Location buffer_location(const Wave& wave, const Instruction& in, const AddressOperands& from,
                         int lane, u32 bytes, bool& outside) {
  const u32* vector = wave.vector + static_cast<std::size_t>(from.vector.reg) * W + lane;
  u32 offset = static_cast<u32>(in.offset);
  u32 index = 0;
  if (in.index_enable) index = vector[0];
  if (in.offset_enable) offset += vector[in.index_enable ? W : 0];
  const u32 scalar_offset = read_scalar<W>(wave, in, from.offset);
  const u32* descriptor = &wave.scalar[from.scalar.reg];
  if (descriptor[3] == kScratchDescriptorTag) return {Space::kScratch, offset, scalar_offset};
  const u64 base = combine(descriptor[0], descriptor[1] & 0xffff);
  const u32 stride = descriptor[1] >> 16 & 0x3fff;
  const u64 position = u64{index} * stride + offset;
  outside = position + bytes > descriptor[2];
  return {Space::kGlobal, base + scalar_offset + position, 0};
}

template <int W, Form kForm>
Location location_of(const Wave& wave, const Instruction& in, const AddressOperands& from, int lane,
                     u32 bytes, bool& outside) {
  outside = false;
  const u32* vector = wave.vector + static_cast<std::size_t>(from.vector.reg) * W + lane;
  const u64 offset = static_cast<u64>(i64{in.offset});
  if constexpr (kForm == Form::kBuffer) {
    return buffer_location<W>(wave, in, from, lane, bytes, outside);
  } else if constexpr (kForm == Form::kScratch) {
    u32 address = static_cast<u32>(in.offset);
    if (from.vector.is_vector()) address += vector[0];
    if (!from.scalar.is_none()) address += read_scalar<W>(wave, in, from.scalar);
    return {Space::kScratch, address, 0};
  } else if constexpr (kForm == Form::kFlat) {
    return flat_location(combine(vector[0], vector[W]) + offset);
  } else {
    if (from.scalar.is_scalar()) {
      return {Space::kGlobal, read_scalar64<W>(wave, in, from.scalar) + vector[0] + offset, 0};
    }
    return {Space::kGlobal, combine(vector[0], vector[W]) + offset, 0};
  }
}

}  // namespace kiln::emulator
