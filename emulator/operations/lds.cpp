// Loads, stores and atomics on LDS. Permutations of lanes through LDS are in lanes.cpp.
#include "emulator/memory_access.hpp"
#include "emulator/operations/memory_rows.hpp"
#include "emulator/operations/update_formulas.hpp"

namespace kiln::emulator {
namespace {

Location lds_location(u32 address, i32 offset) {
  return {Space::kLds, address + static_cast<u32>(offset), 0};
}

template <int W, u32 kBytes, Extend kExtend, Into kInto>
void load(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = (kBytes + 3) / 4;
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  const u32* address = vector_register<W>(wave, in, in.operands[1]);
  const u64 active = read_exec<W>(wave);
  u32 loaded[kRegisters][W];
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    u32 value[kRegisters] = {};
    load_bytes<W, kBytes>(wave, in, lds_location(address[lane], in.offset), lane, value);
    value[0] = placed<kBytes, kExtend, kInto>(value[0], destination[lane]);
    for (u32 i = 0; i < kRegisters; ++i) loaded[i][lane] = value[i];
  }
  for (u32 i = 0; i < kRegisters; ++i) write_lanes<W>(destination + i * W, loaded[i], active);
}

template <int W, u32 kBytes, From kFrom>
void store(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = (kBytes + 3) / 4;
  const u32* address = vector_register<W>(wave, in, in.operands[0]);
  const u32* data = vector_register<W>(wave, in, in.operands[1]);
  const u64 active = read_exec<W>(wave);
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    u32 value[kRegisters];
    for (u32 i = 0; i < kRegisters; ++i) value[i] = data[i * W + static_cast<u32>(lane)];
    if (kFrom == From::kHighHalf) value[0] >>= 16;
    store_bytes<W, kBytes>(wave, in, lds_location(address[lane], in.offset), lane, value);
  }
}

// Loads two elements at once. Their offsets are in elements, or in units of 64 elements.
template <int W, u32 kBytes, i32 kStride>
void load_two(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = kBytes / 4;
  constexpr i32 kStep = static_cast<i32>(kBytes) * kStride;
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  const u32* address = vector_register<W>(wave, in, in.operands[1]);
  const u64 active = read_exec<W>(wave);
  u32 loaded[2 * kRegisters][W];
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    u32 value[2 * kRegisters];
    load_bytes<W, kBytes>(wave, in, lds_location(address[lane], in.offset0 * kStep), lane, value);
    load_bytes<W, kBytes>(wave, in, lds_location(address[lane], in.offset1 * kStep), lane,
                          value + kRegisters);
    for (u32 i = 0; i < 2 * kRegisters; ++i) loaded[i][lane] = value[i];
  }
  for (u32 i = 0; i < 2 * kRegisters; ++i) write_lanes<W>(destination + i * W, loaded[i], active);
}

template <int W, u32 kBytes, i32 kStride>
void store_two(Wave& wave, const Instruction& in) {
  constexpr u32 kRegisters = kBytes / 4;
  constexpr i32 kStep = static_cast<i32>(kBytes) * kStride;
  const u32* address = vector_register<W>(wave, in, in.operands[0]);
  const u32* data[2] = {vector_register<W>(wave, in, in.operands[1]),
                        vector_register<W>(wave, in, in.operands[2])};
  const i32 offsets[2] = {in.offset0 * kStep, in.offset1 * kStep};
  const u64 active = read_exec<W>(wave);
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    for (int element = 0; element < 2; ++element) {
      u32 value[kRegisters];
      for (u32 i = 0; i < kRegisters; ++i) value[i] = data[element][i * W + static_cast<u32>(lane)];
      store_bytes<W, kBytes>(wave, in, lds_location(address[lane], offsets[element]), lane, value);
    }
  }
}

// Operands: [destination,] address [, data [, data]].
template <int W, typename T, std::size_t kSources, typename F>
void atomic(Wave& wave, const Instruction& in) {
  const std::size_t first = in.destination_count;
  const u32* address = vector_register<W>(wave, in, in.operands[first]);
  const u32* data[2] = {address, address};
  for (std::size_t i = 0; i < kSources; ++i)
    data[i] = vector_register<W>(wave, in, in.operands[first + 1 + i]);
  const auto value_at = [](const u32* low) -> T {
    if constexpr (sizeof(T) == 8) {
      return combine(low[0], low[W]);
    } else {
      return low[0];
    }
  };
  const u64 active = read_exec<W>(wave);
  T old[W];
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    const T second = kSources > 1 ? value_at(data[1] + lane) : T{0};
    old[lane] = update < kSources == 2
                    ? Update::kCompareAndSwap
                    : Update::kPlain > (wave, in, lds_location(address[lane], in.offset), lane,
                                        value_at(data[0] + lane), second, F{});
  }
  if (in.destination_count == 0) return;
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    destination[lane] = static_cast<u32>(old[lane]);
    if constexpr (sizeof(T) == 8) destination[lane + W] = high_half(old[lane]);
  }
}

// ds_<name>_<type> and ds_<name>_rtn_<type>, which returns the old value.
template <typename T, typename F>
void add(Operations& rows, const std::string& name, const std::string& type, F) {
  const auto formula = [](T o, T a, T) { return static_cast<T>(F{}(o, a)); };
  using Formula = decltype(formula);
  for (const char* infix : {"_", "_rtn_"}) {
    rows.push_back({"ds_" + name + infix + type, atomic<32, T, 1, std::remove_const_t<Formula>>,
                    atomic<64, T, 1, std::remove_const_t<Formula>>});
  }
}
template <typename T, typename F>
void add_compare(Operations& rows, const std::string& name, const std::string& type, F) {
  for (const char* infix : {"_", "_rtn_"}) {
    rows.push_back({"ds_" + name + infix + type, atomic<32, T, 2, F>, atomic<64, T, 2, F>});
  }
}

// Adds the operations that exist for both 32 and 64 bits.
template <typename T>
void add_for_width(Operations& rows, const std::string& bits) {
  add<T>(rows, "add", "u" + bits, [](T old, T a) { return old + a; });
  add<T>(rows, "sub", "u" + bits, [](T old, T a) { return old - a; });
  add<T>(rows, "rsub", "u" + bits, [](T old, T a) { return a - old; });
  add<T>(rows, "inc", "u" + bits, [](T old, T a) { return increment(old, a); });
  add<T>(rows, "dec", "u" + bits, [](T old, T a) { return decrement(old, a); });
  add<T>(rows, "min", "i" + bits, [](T old, T a) { return signed_minimum(old, a); });
  add<T>(rows, "max", "i" + bits, [](T old, T a) { return signed_maximum(old, a); });
  add<T>(rows, "min", "u" + bits, [](T old, T a) { return old < a ? old : a; });
  add<T>(rows, "max", "u" + bits, [](T old, T a) { return old > a ? old : a; });
  add<T>(rows, "and", "b" + bits, [](T old, T a) { return old & a; });
  add<T>(rows, "or", "b" + bits, [](T old, T a) { return old | a; });
  add<T>(rows, "xor", "b" + bits, [](T old, T a) { return old ^ a; });
  add<T>(rows, "wrxchg", "b" + bits, [](T, T a) { return a; });
  add<T>(rows, "storexchg", "b" + bits, [](T, T a) { return a; });
  // Up to gfx10, the value to compare with comes first; from gfx11 on, the new value does.
  add_compare<T>(rows, "cmpst", "b" + bits, [](T old, T a, T b) { return old == a ? b : old; });
  add_compare<T>(rows, "cmpstore", "b" + bits, [](T old, T a, T b) { return old == b ? a : old; });
}

}  // namespace

// clang-format off
Operations lds_operations() {
  Operations rows = {
      KILN_OPERATION("ds_load_u8", load, 1, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_i8", load, 1, Extend::kSign, Into::kWhole),
      KILN_OPERATION("ds_load_u16", load, 2, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_i16", load, 2, Extend::kSign, Into::kWhole),
      KILN_OPERATION("ds_load_b32", load, 4, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_b64", load, 8, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_b96", load, 12, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_b128", load, 16, Extend::kZero, Into::kWhole),
      KILN_OPERATION("ds_load_u8_d16", load, 1, Extend::kZero, Into::kLowHalf),
      KILN_OPERATION("ds_load_i8_d16", load, 1, Extend::kSign, Into::kLowHalf),
      KILN_OPERATION("ds_load_u16_d16", load, 2, Extend::kZero, Into::kLowHalf),
      KILN_OPERATION("ds_load_u8_d16_hi", load, 1, Extend::kZero, Into::kHighHalf),
      KILN_OPERATION("ds_load_i8_d16_hi", load, 1, Extend::kSign, Into::kHighHalf),
      KILN_OPERATION("ds_load_u16_d16_hi", load, 2, Extend::kZero, Into::kHighHalf),
      KILN_OPERATION("ds_store_b8", store, 1, From::kWhole),
      KILN_OPERATION("ds_store_b16", store, 2, From::kWhole),
      KILN_OPERATION("ds_store_b32", store, 4, From::kWhole),
      KILN_OPERATION("ds_store_b64", store, 8, From::kWhole),
      KILN_OPERATION("ds_store_b96", store, 12, From::kWhole),
      KILN_OPERATION("ds_store_b128", store, 16, From::kWhole),
      KILN_OPERATION("ds_store_b8_d16_hi", store, 1, From::kHighHalf),
      KILN_OPERATION("ds_store_b16_d16_hi", store, 2, From::kHighHalf),
      KILN_OPERATION("ds_load_2addr_b32", load_two, 4, 1),
      KILN_OPERATION("ds_load_2addr_b64", load_two, 8, 1),
      KILN_OPERATION("ds_load_2addr_stride64_b32", load_two, 4, 64),
      KILN_OPERATION("ds_load_2addr_stride64_b64", load_two, 8, 64),
      KILN_OPERATION("ds_store_2addr_b32", store_two, 4, 1),
      KILN_OPERATION("ds_store_2addr_b64", store_two, 8, 1),
      KILN_OPERATION("ds_store_2addr_stride64_b32", store_two, 4, 64),
      KILN_OPERATION("ds_store_2addr_stride64_b64", store_two, 8, 64),
  };
  add_for_width<u32>(rows, "32");
  add_for_width<u64>(rows, "64");
  add<u32>(rows, "add", "f32", [](u32 old, u32 a) { return add_floats(old, a); });
  add<u32>(rows, "min", "f32", [](u32 old, u32 a) { return minimum_of_floats(old, a); });
  add<u32>(rows, "max", "f32", [](u32 old, u32 a) { return maximum_of_floats(old, a); });
  add<u64>(rows, "add", "f64", [](u64 old, u64 a) { return add_doubles(old, a); });
  add<u64>(rows, "min", "f64", [](u64 old, u64 a) { return minimum_of_doubles(old, a); });
  add<u64>(rows, "max", "f64", [](u64 old, u64 a) { return maximum_of_doubles(old, a); });
  add<u32>(rows, "pk_add", "f16", [](u32 old, u32 a) { return add_half_pairs(old, a); });
  return rows;
}
// clang-format on

}  // namespace kiln::emulator
