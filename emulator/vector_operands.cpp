#include "emulator/vector_operands.hpp"

#include "emulator/dispatch.hpp"

namespace kiln::emulator {
namespace {

// Returns the lane that lane `l` sees through DPP, or -1. Control values: LLVM, SIDefines.h,
// DppCtrl.
template <int W>
int dpp_lane(const Wave& wave, const Instruction& in, int l) {
  const int control = in.dpp_control;
  const int row = l & ~15;
  const int i = l & 15;
  const int amount = control & 15;
  if (in.lanes == LaneMap::kDpp8) {
    return (l & ~7) + static_cast<int>(in.dpp8_selectors >> (3 * (l & 7)) & 7);
  }
  if (control <= 0xff) return (l & ~3) + (control >> (2 * (l & 3)) & 3);              // quad_perm
  if (control > 0x100 && control <= 0x10f) return i + amount < 16 ? l + amount : -1;  // row_shl
  if (control > 0x110 && control <= 0x11f) return i >= amount ? l - amount : -1;      // row_shr
  if (control > 0x120 && control <= 0x12f) return row + ((i - amount) & 15);          // row_ror
  if (control == 0x130) return l + 1 < W ? l + 1 : -1;                                // wave_shl
  if (control == 0x134) return (l + 1) % W;                                           // wave_rol
  if (control == 0x138) return l - 1;                                                 // wave_shr
  if (control == 0x13c) return (l + W - 1) % W;                                       // wave_ror
  if (control == 0x140) return row + 15 - i;                                          // row_mirror
  if (control == 0x141) return (l & ~7) + 7 - (l & 7);                  // row_half_mirror
  if (control == 0x142) return l >= 16 ? row - 1 : -1;                  // row_bcast:15
  if (control == 0x143) return l >= 32 ? 31 : -1;                       // row_bcast:31
  if (control >= 0x150 && control <= 0x15f) return row + amount;        // row_share
  if (control >= 0x160 && control <= 0x16f) return row + (i ^ amount);  // row_xmask
  raise(wave, in, FaultKind::kUnsupported, "DPP control " + std::to_string(control));
}

int part_shift(Part part) { return part < kWord0 ? 8 * part : 16 * (part - kWord0); }
bool is_byte(Part part) { return part < kWord0; }

u32 take_part(u32 x, Part part, bool sign_extend) {
  const u32 shifted = x >> part_shift(part);
  if (sign_extend) {
    return is_byte(part) ? static_cast<u32>(i32{static_cast<i8>(shifted)})
                         : static_cast<u32>(i32{static_cast<i16>(shifted)});
  }
  return shifted & (is_byte(part) ? 0xff : 0xffff);
}

template <int W>
void write_part(Wave& wave, const Instruction& in, u32* destination, const u32* values, u32 mask) {
  u32 result[W];
  const Part part = in.destination_part;
  const int shift = part == kDword ? 0 : part_shift(part);
  const u32 part_mask = is_byte(part) ? 0xff : 0xffff;
  for (int lane = 0; lane < W; ++lane) {
    const u32 value = values[lane] & mask;
    if (part == kDword) {
      result[lane] = value;
      continue;
    }
    const u32 inserted = (value & part_mask) << shift;
    if (in.unused == UnusedPart::kPreserve) {
      result[lane] = (destination[lane] & ~(part_mask << shift)) | inserted;
    } else if (in.unused == UnusedPart::kSignExtend) {
      const u32 sign = (value & ((part_mask >> 1) + 1)) != 0 ? ~0u : 0;
      const int above = shift + (is_byte(part) ? 8 : 16);
      result[lane] = inserted | (above < 32 ? sign << above : 0);
    } else {
      result[lane] = inserted;
    }
  }
  write_lanes<W>(destination, result, wave.write_mask);
}

}  // namespace

template <int W>
void mask_dpp_lanes(Wave& wave, const Instruction& in) {
  const u64 active = wave.write_mask;
  u64 kept = 0;
  for (int lane = 0; lane < W; ++lane) {
    const int source = dpp_lane<W>(wave, in, lane);
    if (in.lanes == LaneMap::kDpp16) {
      if ((in.row_mask >> (lane >> 4) & 1) == 0 || (in.bank_mask >> (lane >> 2 & 3) & 1) == 0)
        continue;
      if (source < 0 && !in.bound_control) continue;
      if (source >= 0 && !has_lane<W>(active, source) && !in.fetch_inactive && !in.bound_control)
        continue;
    }
    kept |= 1ull << lane;
  }
  wave.write_mask = active & kept;
}

template <int W>
void permute_by_dpp(const Wave& wave, const Instruction& in, const u32* source, u32* result) {
  const u64 active = read_exec<W>(wave);
  for (int lane = 0; lane < W; ++lane) {
    const int from = dpp_lane<W>(wave, in, lane);
    const bool is_available = from >= 0 && (has_lane<W>(active, from) || in.fetch_inactive);
    result[lane] = is_available ? source[from] : 0;
  }
}

template <int W>
void read_bits(const Wave& wave, const Instruction& in, int operand, u32* result, Reading reading) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  const int position = operand - in.destination_count;  // index among the sources
  const bool is_16 = reading == Reading::kHalf || reading == Reading::kBits16;
  if (source.is_vector()) {
    const u32* lanes = wave.vector + static_cast<std::size_t>(source.reg) * W;
    if (in.lanes != LaneMap::kOwn && position == 0) {
      permute_by_dpp<W>(wave, in, lanes, result);
    } else {
      std::memcpy(result, lanes, W * sizeof(u32));
    }
    if (in.sdwa && source.part != kDword) {
      for (int lane = 0; lane < W; ++lane) {
        result[lane] = take_part(result[lane], source.part, source.sign_extend);
      }
    } else if (in.sdwa && source.sign_extend && reading == Reading::kBits16) {
      for (int lane = 0; lane < W; ++lane) result[lane] = take_part(result[lane], kWord0, true);
    }
  } else {
    u32 value;
    if (source.kind == OperandKind::kFloat && is_16) {
      value = double_to_half(double_of(source.value));
    } else {
      value = read_scalar<W>(wave, in, source);
      if (in.sdwa && source.part != kDword)
        value = take_part(value, source.part, source.sign_extend);
    }
    for (int lane = 0; lane < W; ++lane) result[lane] = value;
  }
  if (is_16) {
    const int shift = (in.op_sel >> position & 1) != 0 ? 16 : 0;
    const u32 mask = shift != 0 ? ~0u : 0xffffu;
    for (int lane = 0; lane < W; ++lane) result[lane] = result[lane] >> shift & mask;
  }
  const u32 sign = reading == Reading::kHalf ? 0x8000u : 0x80000000u;
  if (source.absolute) {
    for (int lane = 0; lane < W; ++lane) result[lane] &= ~sign;
  }
  if (source.negate) {
    for (int lane = 0; lane < W; ++lane) result[lane] ^= sign;
  }
}

template <int W>
void read_bits64(const Wave& wave, const Instruction& in, int operand, u64* result, bool is_float,
                 Literal literal) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  if (source.is_vector()) {
    const u32* low = wave.vector + static_cast<std::size_t>(source.reg) * W;
    const u32* high = low + W;
    u32 permuted_low[W];
    u32 permuted_high[W];
    if (in.lanes != LaneMap::kOwn && operand == in.destination_count) {
      permute_by_dpp<W>(wave, in, low, permuted_low);
      permute_by_dpp<W>(wave, in, high, permuted_high);
      low = permuted_low;
      high = permuted_high;
    }
    for (int lane = 0; lane < W; ++lane) result[lane] = combine(low[lane], high[lane]);
  } else {
    // A literal is the upper half of a double.
    const u64 value = is_float && source.kind == OperandKind::kLiteral
                          ? source.value << 32
                          : read_scalar64<W>(wave, in, source, literal);
    for (int lane = 0; lane < W; ++lane) result[lane] = value;
  }
  constexpr u64 kSign = 1ull << 63;
  if (source.absolute) {
    for (int lane = 0; lane < W; ++lane) result[lane] &= ~kSign;
  }
  if (source.negate) {
    for (int lane = 0; lane < W; ++lane) result[lane] ^= kSign;
  }
}

template <int W>
void write_lanes(u32* destination, const u32* values, u64 mask) {
  if (mask == kAllLanes<W>) {
    std::memcpy(destination, values, W * sizeof(u32));
    return;
  }
  for (int lane = 0; lane < W; ++lane) {
    destination[lane] = has_lane<W>(mask, lane) ? values[lane] : destination[lane];
  }
}

template <int W>
void write_bits(Wave& wave, const Instruction& in, int operand, const u32* values) {
  u32* destination = vector_register<W>(wave, in, in.operands[static_cast<std::size_t>(operand)]);
  if (in.sdwa) [[unlikely]]
    return write_part<W>(wave, in, destination, values, ~0u);
  write_lanes<W>(destination, values, wave.write_mask);
}

template <int W>
void write_bits64(Wave& wave, const Instruction& in, int operand, const u64* values) {
  u32* low = vector_register<W>(wave, in, in.operands[static_cast<std::size_t>(operand)]);
  u32* high = low + W;
  const u64 mask = wave.write_mask;
  for (int lane = 0; lane < W; ++lane) {
    low[lane] = has_lane<W>(mask, lane) ? low_half(values[lane]) : low[lane];
    high[lane] = has_lane<W>(mask, lane) ? high_half(values[lane]) : high[lane];
  }
}

template <int W>
void write_bits16(Wave& wave, const Instruction& in, int operand, const u32* values,
                  UpperHalf upper) {
  u32* destination = vector_register<W>(wave, in, in.operands[static_cast<std::size_t>(operand)]);
  if (in.sdwa) return write_part<W>(wave, in, destination, values, 0xffff);
  u32 result[W];
  if (in.op_sel_destination) {
    for (int lane = 0; lane < W; ++lane) {
      result[lane] = (destination[lane] & 0xffff) | values[lane] << 16;
    }
  } else {
    const bool keep = upper == UpperHalf::kKeep || !wave.workgroup->plan->device->is_gfx9;
    const u32 kept = keep ? 0xffff0000u : 0;
    for (int lane = 0; lane < W; ++lane) {
      result[lane] = (destination[lane] & kept) | (values[lane] & 0xffff);
    }
  }
  write_lanes<W>(destination, result, wave.write_mask);
}

u32 finish_half(const Instruction& in, float x) {
  if (in.output_scale == 0 && !in.clamp) return float_to_half(x);
  const float scaled = scale_output(in, half_to_float(float_to_half(x)));
  return float_to_half(in.clamp ? clamp_to_one(scaled) : scaled);
}

#define KILN_INSTANTIATE(W)                                                                \
  template void mask_dpp_lanes<W>(Wave&, const Instruction&);                              \
  template void permute_by_dpp<W>(const Wave&, const Instruction&, const u32*, u32*);      \
  template void read_bits<W>(const Wave&, const Instruction&, int, u32*, Reading);         \
  template void read_bits64<W>(const Wave&, const Instruction&, int, u64*, bool, Literal); \
  template void write_bits<W>(Wave&, const Instruction&, int, const u32*);                 \
  template void write_bits64<W>(Wave&, const Instruction&, int, const u64*);               \
  template void write_bits16<W>(Wave&, const Instruction&, int, const u32*, UpperHalf);    \
  template void write_lanes<W>(u32*, const u32*, u64);
KILN_INSTANTIATE(32)
KILN_INSTANTIATE(64)
#undef KILN_INSTANTIATE

}  // namespace kiln::emulator
