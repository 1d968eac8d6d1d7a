// Instructions that access other lanes, select between values, or index registers.
#include "emulator/dispatch.hpp"
#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

template <int W>
void select(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 buffers[2][W];
  u32 result[W];
  const auto has_modifier = [](const Operand& o) {
    return o.absolute || o.negate || o.sign_extend;
  };
  const bool is_float = has_modifier(in.operands[1]) || has_modifier(in.operands[2]);
  const u32* a = buffers[0];
  const u32* b = buffers[1];
  if (is_float) {
    read_bits<W>(wave, in, 1, buffers[0], Reading::kFloat32);
    read_bits<W>(wave, in, 2, buffers[1], Reading::kFloat32);
  } else {
    a = read<W, U32>(wave, in, 1, buffers[0]);
    b = read<W, U32>(wave, in, 2, buffers[1]);
  }
  const u64 mask = read_mask<W>(wave, in, in.operands[3]);
  for (int lane = 0; lane < W; ++lane) result[lane] = has_lane<W>(mask, lane) ? b[lane] : a[lane];
  write_bits<W>(wave, in, 0, result);
}

template <int W>
void select_16(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a[W];
  u32 b[W];
  u32 result[W];
  read_bits<W>(wave, in, 1, a, Reading::kHalf);
  read_bits<W>(wave, in, 2, b, Reading::kHalf);
  const u64 mask = read_mask<W>(wave, in, in.operands[3]);
  for (int lane = 0; lane < W; ++lane) result[lane] = has_lane<W>(mask, lane) ? b[lane] : a[lane];
  write_bits16<W>(wave, in, 0, result, UpperHalf::kKeep);
}

// v_mbcnt: counts the bits of a mask that belong to lower lanes. `kFirst` is the lane of bit 0 of
// the mask.
template <int W, int kFirst>
void count_lower_lanes(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 buffers[2][W];
  u32 result[W];
  const u32* a = read<W, U32>(wave, in, 1, buffers[0]);
  const u32* b = read<W, U32>(wave, in, 2, buffers[1]);
  for (int lane = 0; lane < W; ++lane) {
    const int below = lane - kFirst;
    const u32 mask = below <= 0 ? 0 : below >= 32 ? ~0u : (1u << below) - 1;
    result[lane] = count_bits(a[lane] & mask) + b[lane];
  }
  write_bits<W>(wave, in, 0, result);
}

template <int W>
void read_first_lane(Wave& wave, const Instruction& in) {
  const u64 active = read_exec<W>(wave);
  const int lane = active != 0 ? std::countr_zero(active) : 0;
  const Operand& source = in.operands[1];
  const u32 value = source.is_vector() ? vector_register<W>(wave, in, source)[lane]
                                       : read_scalar<W>(wave, in, source);
  write_scalar(wave, in, in.operands[0], value);
}
template <int W>
void read_lane(Wave& wave, const Instruction& in) {
  const u32 lane = read_scalar<W>(wave, in, in.operands[2]) & (W - 1);
  write_scalar(wave, in, in.operands[0], vector_register<W>(wave, in, in.operands[1])[lane]);
}
template <int W>
void write_lane(Wave& wave, const Instruction& in) {
  const u32 lane = read_scalar<W>(wave, in, in.operands[2]) & (W - 1);
  vector_register<W>(wave, in, in.operands[0])[lane] = read_scalar<W>(wave, in, in.operands[1]);
}

enum class Row : u8 { kOwn, kOther };

template <int W, Row kRow>
void permute_in_row(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  const u32* source = vector_register<W>(wave, in, in.operands[1]);
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  const u64 selectors =
      combine(read_scalar<W>(wave, in, in.operands[2]), read_scalar<W>(wave, in, in.operands[3]));
  const u64 active = read_exec<W>(wave);
  const bool fetch_inactive = (in.op_sel & 1) != 0;
  const bool bound_control = (in.op_sel & 2) != 0;
  u32 result[W];
  for (int lane = 0; lane < W; ++lane) {
    const int row = (lane & ~15) ^ (kRow == Row::kOther ? 16 : 0);
    const int from = row + static_cast<int>(selectors >> (4 * (lane & 15)) & 15);
    const bool is_available = fetch_inactive || has_lane<W>(active, from);
    result[lane] = is_available ? source[from] : bound_control ? 0 : destination[lane];
  }
  write_bits<W>(wave, in, 0, result);
}

// Only waves of 64 lanes have halves to swap.
template <int W>
void swap_halves(Wave& wave, const Instruction& in) {
  if (W == 32) return;
  begin_vector<W>(wave, in);
  const u32* source = vector_register<W>(wave, in, in.operands[1]);
  u32 result[W];
  for (int lane = 0; lane < W; ++lane) result[lane] = source[lane ^ 32];
  write_bits<W>(wave, in, 0, result);
}

// ---- through the LDS crossbar

template <int W>
void gather_lanes(Wave& wave, const Instruction& in) {
  const u64 active = read_exec<W>(wave);
  const u32* address = vector_register<W>(wave, in, in.operands[1]);
  const u32* data = vector_register<W>(wave, in, in.operands[2]);
  // gfx10 and later permute each half of a wave of 64 separately.
  const bool by_halves = W == 64 && !wave.workgroup->plan->device->is_gfx9;
  u32 result[W];
  for (int lane = 0; lane < W; ++lane) {
    int from = static_cast<int>((address[lane] + static_cast<u32>(in.offset)) >> 2 & (W - 1));
    if (by_halves) from = (from & 31) | (lane & 32);
    result[lane] = has_lane<W>(active, from) ? data[from] : 0;
  }
  write_lanes<W>(vector_register<W>(wave, in, in.operands[0]), result, active);
}
template <int W>
void scatter_lanes(Wave& wave, const Instruction& in) {
  const u64 active = read_exec<W>(wave);
  const u32* address = vector_register<W>(wave, in, in.operands[1]);
  const u32* data = vector_register<W>(wave, in, in.operands[2]);
  u32 result[W] = {};
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    result[(address[lane] + static_cast<u32>(in.offset)) >> 2 & (W - 1)] = data[lane];
  }
  write_lanes<W>(vector_register<W>(wave, in, in.operands[0]), result, active);
}

// Returns the lane whose value `lane` receives from ds_swizzle with this 16-bit pattern.
int swizzled_lane(int lane, u32 pattern) {
  const int i = lane & 31;
  if ((pattern & 0xe000) == 0xc000) {  // rotate
    const int amount = static_cast<int>(pattern >> 5 & 31);
    const int fixed = static_cast<int>(pattern & 31);
    const int rotated = (pattern >> 10 & 1) != 0 ? i - amount : i + amount;
    return (lane & 32) | (i & fixed) | (rotated & 31 & ~fixed);
  }
  if ((pattern & 0x8000) != 0)
    return (lane & ~3) | static_cast<int>(pattern >> (2 * (lane & 3)) & 3);
  const u32 masked = (static_cast<u32>(i) & (pattern & 31)) | (pattern >> 5 & 31);
  return (lane & 32) | static_cast<int>(masked ^ (pattern >> 10 & 31));
}
template <int W>
void swizzle(Wave& wave, const Instruction& in) {
  const u64 active = read_exec<W>(wave);
  const u32* source = vector_register<W>(wave, in, in.operands[1]);
  const u32 pattern = in.words[0] & 0xffff;
  if ((pattern & 0xe000) == 0xe000)
    raise(wave, in, FaultKind::kUnsupported, "ds_swizzle in FFT mode");
  u32 result[W];
  for (int lane = 0; lane < W; ++lane) {
    const int from = swizzled_lane(lane, pattern);
    result[lane] = has_lane<W>(active, from) ? source[from] : 0;
  }
  write_lanes<W>(vector_register<W>(wave, in, in.operands[0]), result, active);
}

// ---- registers indexed by M0 (gfx10 and later)

template <int W, int kOperand>
void move_indexed(Wave& wave, const Instruction& in) {
  Instruction indexed = in;
  Operand& operand = indexed.operands[kOperand];
  const u64 reg = u64{operand.reg} + wave.scalar[kM0];
  if (reg >= wave.workgroup->plan->vector_registers) {
    raise(wave, in, FaultKind::kUnsupported,
          "v" + std::to_string(reg) + ", indexed by m0, is outside the registers");
  }
  operand.reg = static_cast<u16>(reg);
  begin_vector<W>(wave, indexed);
  u32 buffer[W];
  u32 result[W];
  std::memcpy(result, read<W, U32>(wave, indexed, 1, buffer), sizeof result);
  write_bits<W>(wave, indexed, 0, result);
}

}  // namespace

// clang-format off
Operations lane_operations() {
  return {
      KILN_OPERATION("v_cndmask_b32", select),
      KILN_OPERATION("v_cndmask_b16", select_16),
      KILN_OPERATION("v_mbcnt_lo_u32_b32", count_lower_lanes, 0),
      KILN_OPERATION("v_mbcnt_hi_u32_b32", count_lower_lanes, 32),
      KILN_OPERATION("v_readfirstlane_b32", read_first_lane),
      KILN_OPERATION("v_readlane_b32", read_lane),
      KILN_OPERATION("v_writelane_b32", write_lane),
      KILN_OPERATION("v_permlane16_b32", permute_in_row, Row::kOwn),
      KILN_OPERATION("v_permlanex16_b32", permute_in_row, Row::kOther),
      KILN_OPERATION("v_permlane64_b32", swap_halves),
      KILN_OPERATION("ds_bpermute_b32", gather_lanes),
      KILN_OPERATION("ds_permute_b32", scatter_lanes),
      KILN_OPERATION("ds_swizzle_b32", swizzle),
      KILN_OPERATION("v_movrels_b32", move_indexed, 1),
      KILN_OPERATION("v_movreld_b32", move_indexed, 0),
  };
}
// clang-format on

}  // namespace kiln::emulator
