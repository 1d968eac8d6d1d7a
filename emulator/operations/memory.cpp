// Loads and stores: global, flat, scratch and buffer instructions, and scalar loads.
#include "emulator/operations/addresses.hpp"
#include "emulator/operations/memory_rows.hpp"

namespace kiln::emulator {
namespace {

// Operands: destination, address, base [, offset].
template <int W, Form kForm, u32 kBytes, Extend kExtend, Into kInto>
void load(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = (kBytes + 3) / 4;
  if (in.to_lds) raise(wave, in, FaultKind::kUnsupported, "a load that goes to LDS");
  const AddressOperands from{in.operands[1], in.operands[2], in.operands[3]};
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  const u64 active = read_exec<W>(wave);
  // All is loaded before a register is written, because that register may be part of the address.
  u32 loaded[kRegisters][W];
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    u32 value[kRegisters] = {};
    bool outside = false;
    const Location location = location_of<W, kForm>(wave, in, from, lane, kBytes, outside);
    if (!outside) load_bytes<W, kBytes>(wave, in, location, lane, value);
    value[0] = placed<kBytes, kExtend, kInto>(value[0], destination[lane]);
    for (u32 i = 0; i < kRegisters; ++i) loaded[i][lane] = value[i];
  }
  for (u32 i = 0; i < kRegisters; ++i) write_lanes<W>(destination + i * W, loaded[i], active);
}

// Operands: address, data, base. A buffer instruction has data, address, descriptor, offset.
template <int W, Form kForm, u32 kBytes, From kFrom>
void store(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = (kBytes + 3) / 4;
  constexpr std::size_t kAddress = kForm == Form::kBuffer ? 1 : 0;
  const AddressOperands to{in.operands[kAddress], in.operands[2], in.operands[3]};
  const u32* data = vector_register<W>(wave, in, in.operands[1 - kAddress]);
  const u64 active = read_exec<W>(wave);
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    u32 value[kRegisters];
    for (u32 i = 0; i < kRegisters; ++i) value[i] = data[i * W + static_cast<u32>(lane)];
    if (kFrom == From::kHighHalf) value[0] >>= 16;
    bool outside = false;
    const Location location = location_of<W, kForm>(wave, in, to, lane, kBytes, outside);
    if (!outside) store_bytes<W, kBytes>(wave, in, location, lane, value);
  }
}

template <Form kForm>
void add_loads_and_stores(Operations& rows, const std::string& form) {
#define KILN_LOAD(name, ...) \
  rows.push_back({form + name, load<32, kForm, __VA_ARGS__>, load<64, kForm, __VA_ARGS__>});
#define KILN_STORE(name, ...) \
  rows.push_back({form + name, store<32, kForm, __VA_ARGS__>, store<64, kForm, __VA_ARGS__>});
  KILN_LOAD("_load_u8", 1, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_i8", 1, Extend::kSign, Into::kWhole)
  KILN_LOAD("_load_u16", 2, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_i16", 2, Extend::kSign, Into::kWhole)
  KILN_LOAD("_load_b32", 4, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_b64", 8, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_b96", 12, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_b128", 16, Extend::kZero, Into::kWhole)
  KILN_LOAD("_load_d16_u8", 1, Extend::kZero, Into::kLowHalf)
  KILN_LOAD("_load_d16_i8", 1, Extend::kSign, Into::kLowHalf)
  KILN_LOAD("_load_d16_b16", 2, Extend::kZero, Into::kLowHalf)
  KILN_LOAD("_load_d16_hi_u8", 1, Extend::kZero, Into::kHighHalf)
  KILN_LOAD("_load_d16_hi_i8", 1, Extend::kSign, Into::kHighHalf)
  KILN_LOAD("_load_d16_hi_b16", 2, Extend::kZero, Into::kHighHalf)
  KILN_STORE("_store_b8", 1, From::kWhole)
  KILN_STORE("_store_b16", 2, From::kWhole)
  KILN_STORE("_store_b32", 4, From::kWhole)
  KILN_STORE("_store_b64", 8, From::kWhole)
  KILN_STORE("_store_b96", 12, From::kWhole)
  KILN_STORE("_store_b128", 16, From::kWhole)
  KILN_STORE("_store_d16_hi_b8", 1, From::kHighHalf)
  KILN_STORE("_store_d16_hi_b16", 2, From::kHighHalf)
#undef KILN_LOAD
#undef KILN_STORE
}

// Operands: destination, base, and an offset in a register or as a number.
template <int W, u32 kRegisters>
void load_scalars(Wave& wave, const Instruction& in) {
  u64 address = read_scalar64<W>(wave, in, in.operands[1]) + static_cast<u64>(i64{in.offset});
  const Operand& offset = in.operands[2];
  if (offset.is_scalar()) {
    if (offset.reg != kNull) address += wave.scalar[offset.reg];
  } else if (!offset.is_none()) {
    address += static_cast<u64>(i64{static_cast<i32>(low_half(offset.value))});
  }
  u32 loaded[kRegisters];
  load_bytes<W, sizeof(u32) * kRegisters>(wave, in, {Space::kGlobal, address & ~3ull, 0}, -1,
                                          loaded);
  require_scalar(wave, in, in.operands[0]);
  if (in.operands[0].reg == kNull) return;
  for (u32 i = 0; i < kRegisters; ++i) wave.scalar[in.operands[0].reg + i] = loaded[i];
}

}  // namespace

Operations memory_operations() {
  Operations rows = {
      KILN_OPERATION("s_load_b32", load_scalars, 1),  KILN_OPERATION("s_load_b64", load_scalars, 2),
      KILN_OPERATION("s_load_b96", load_scalars, 3),  KILN_OPERATION("s_load_b128", load_scalars, 4),
      KILN_OPERATION("s_load_b256", load_scalars, 8), KILN_OPERATION("s_load_b512", load_scalars, 16),
  };
  add_loads_and_stores<Form::kGlobal>(rows, "global");
  add_loads_and_stores<Form::kFlat>(rows, "flat");
  add_loads_and_stores<Form::kScratch>(rows, "scratch");
  add_loads_and_stores<Form::kBuffer>(rows, "buffer");
  return rows;
}

}  // namespace kiln::emulator
