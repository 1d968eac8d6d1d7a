// Operations on two values in a register or a pair of registers, and dot products of small numbers.
#include <algorithm>

#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

// ---- pairs of 16 bits. op_sel selects the half for the low result, op_sel_hi the half for the
// high one.

template <int W>
struct HalfPairs {
  u32 low[W];
  u32 high[W];
};

template <int W>
void read_pairs(const Wave& wave, const Instruction& in, int operand, HalfPairs<W>& pairs,
                bool is_float) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  const int position = operand - 1;
  u32 bits[W];
  if (source.is_vector() && in.lanes != LaneMap::kOwn && position == 0) {
    permute_by_dpp<W>(wave, in, vector_register<W>(wave, in, source), bits);
  } else if (source.is_vector()) {
    std::memcpy(bits, vector_register<W>(wave, in, source), sizeof bits);
  } else {
    const bool is_half_constant = source.kind == OperandKind::kFloat && is_float;
    std::fill_n(bits, W,
                is_half_constant ? double_to_half(double_of(source.value))
                                 : read_scalar<W>(wave, in, source));
  }
  const int low_shift = (in.op_sel >> position & 1) != 0 ? 16 : 0;
  const int high_shift = (in.op_sel_hi >> position & 1) != 0 ? 16 : 0;
  const u32 low_sign = is_float && (in.neg_lo >> position & 1) != 0 ? 0x8000 : 0;
  const u32 high_sign = is_float && (in.neg_hi >> position & 1) != 0 ? 0x8000 : 0;
  for (int lane = 0; lane < W; ++lane) {
    pairs.low[lane] = (bits[lane] >> low_shift & 0xffff) ^ low_sign;
    pairs.high[lane] = (bits[lane] >> high_shift & 0xffff) ^ high_sign;
  }
}

enum class Elements : bool { kInteger, kFloat };

// The formula takes the bits of three elements and the clamp flag.
template <int W, int kSources, Elements kElements, typename F>
void run_pairs(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  HalfPairs<W> sources[3] = {};
  for (int i = 0; i < kSources; ++i) {
    read_pairs<W>(wave, in, i + 1, sources[i], kElements == Elements::kFloat);
  }
  const auto element = [&](u32 a, u32 b, u32 c) {
    const u32 bits = static_cast<u32>(F{}(a, b, c, in.clamp)) & 0xffff;
    if (kElements == Elements::kInteger || !in.clamp) return bits;
    return float_to_half(clamp_to_one(half_to_float(bits)));
  };
  u32 result[W];
  for (int lane = 0; lane < W; ++lane) {
    result[lane] = element(sources[0].low[lane], sources[1].low[lane], sources[2].low[lane]) |
                   element(sources[0].high[lane], sources[1].high[lane], sources[2].high[lane])
                       << 16;
  }
  write_bits<W>(wave, in, 0, result);
}

template <int kSources, Elements kElements, typename F>
Operation pairs(std::string_view name, F) {
  return {std::string(name), run_pairs<32, kSources, kElements, F>,
          run_pairs<64, kSources, kElements, F>};
}
template <typename F>
Operation half_pairs(std::string_view name, F) {
  return pairs<2, Elements::kFloat>(name, [](u32 a, u32 b, u32, bool) {
    return float_to_half(F{}(half_to_float(a), half_to_float(b)));
  });
}
template <int kSources, typename F>
Operation unsigned_pairs(std::string_view name, F) {
  return pairs<kSources, Elements::kInteger>(name, [](u32 a, u32 b, u32 c, bool clamp) {
    const i64 x = F{}(i64{a}, i64{b}, i64{c});
    return clamp ? std::clamp<i64>(x, 0, 65535) : x;
  });
}
template <int kSources, typename F>
Operation signed_pairs(std::string_view name, F) {
  return pairs<kSources, Elements::kInteger>(name, [](u32 a, u32 b, u32 c, bool clamp) {
    const i64 x = F{}(i64{static_cast<i16>(a)}, i64{static_cast<i16>(b)}, i64{static_cast<i16>(c)});
    return clamp ? std::clamp<i64>(x, -32768, 32767) : x;
  });
}

template <int W>
void accumulate_half_pairs(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  u32 a[W];
  u32 b[W];
  u32 result[W];
  read_bits<W>(wave, in, 1, a, Reading::kBits32);
  read_bits<W>(wave, in, 2, b, Reading::kBits32);
  if (in.operands[1].kind == OperandKind::kFloat) {
    std::fill_n(a, W, double_to_half(double_of(in.operands[1].value)));
  }
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  const auto element = [](u32 x, u32 y, u32 z) {
    return double_to_half(double{half_to_float(x & 0xffff)} * half_to_float(y & 0xffff) +
                          half_to_float(z & 0xffff));
  };
  for (int lane = 0; lane < W; ++lane) {
    const u32 c = destination[lane];
    result[lane] = element(a[lane], b[lane], c) | element(a[lane] >> 16, b[lane] >> 16, c >> 16)
                                                      << 16;
  }
  write_lanes<W>(destination, result, wave.write_mask);
}

// ---- pairs of 32 bits, in two registers (gfx90a and later)

template <int W>
void read_pairs32(const Wave& wave, const Instruction& in, int operand, u8 op_sel, u8 op_sel_hi,
                  HalfPairs<W>& pairs, bool is_float) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  const int position = operand - 1;
  u32 bits[2][W];
  if (source.is_vector()) {
    std::memcpy(bits, vector_register<W>(wave, in, source), sizeof bits);
  } else {
    u32 low = 0;
    u32 high = 0;
    if (source.is_scalar() && source.reg != kNull) {
      low = wave.scalar[source.reg];
      high = wave.scalar[source.reg + 1u];
    } else {
      low = read_scalar<W>(wave, in, source);
      if (source.kind == OperandKind::kInteger && !is_float) high = high_half(source.value);
    }
    std::fill_n(bits[0], W, low);
    std::fill_n(bits[1], W, high);
  }
  std::memcpy(pairs.low, bits[op_sel >> position & 1], sizeof pairs.low);
  std::memcpy(pairs.high, bits[op_sel_hi >> position & 1], sizeof pairs.high);
  const u32 low_sign = is_float && (in.neg_lo >> position & 1) != 0 ? 0x80000000u : 0;
  const u32 high_sign = is_float && (in.neg_hi >> position & 1) != 0 ? 0x80000000u : 0;
  for (int lane = 0; lane < W; ++lane) {
    pairs.low[lane] ^= low_sign;
    pairs.high[lane] ^= high_sign;
  }
}

template <int W, int kSources, typename F>
void run_float_pairs(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  HalfPairs<W> sources[3] = {};
  for (int i = 0; i < kSources; ++i)
    read_pairs32<W>(wave, in, i + 1, in.op_sel, in.op_sel_hi, sources[i], true);
  const auto element = [&](u32 a, u32 b, u32 c) {
    const float x = F{}(float_of(a), float_of(b), float_of(c));
    return bits_of(in.clamp ? clamp_to_one(x) : x);
  };
  u64 result[W];
  for (int lane = 0; lane < W; ++lane) {
    result[lane] =
        combine(element(sources[0].low[lane], sources[1].low[lane], sources[2].low[lane]),
                element(sources[0].high[lane], sources[1].high[lane], sources[2].high[lane]));
  }
  write_bits64<W>(wave, in, 0, result);
}
template <int kSources, typename F>
Operation float_pairs(std::string_view name, F) {
  return {std::string(name), run_float_pairs<32, kSources, F>, run_float_pairs<64, kSources, F>};
}

// Takes the low result from the first source and the high one from the second, as op_sel and
// op_sel_hi select.
template <int W>
void move_pair(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  HalfPairs<W> a;
  HalfPairs<W> b;
  read_pairs32<W>(wave, in, 1, in.op_sel, in.op_sel, a, false);
  read_pairs32<W>(wave, in, 2, in.op_sel, in.op_sel, b, false);
  u64 result[W];
  for (int lane = 0; lane < W; ++lane) result[lane] = combine(a.low[lane], b.low[lane]);
  write_bits64<W>(wave, in, 0, result);
}

// ---- dot products of 4 or 8 integers

enum class Signs : u8 { kSigned, kUnsigned, kByNegLo, kSignedAccumulate };

template <int kCount>
i64 element(u32 packed, int i, bool is_signed) {
  constexpr int kBits = 32 / kCount;
  const u32 top = packed << (32 - kBits * (i + 1));
  return is_signed ? i64{static_cast<i32>(top) >> (32 - kBits)} : i64{top >> (32 - kBits)};
}

template <int W, int kCount, Signs kSigns>
void dot_integers(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  Instruction plain = in;  // the modifiers have another meaning here
  plain.op_sel = 0;
  for (Operand& operand : plain.operands)
    operand.absolute = operand.negate = operand.sign_extend = false;
  u32 buffers[3][W];
  u32 result[W];
  const u32* a = read<W, U32>(wave, plain, 1, buffers[0]);
  const u32* b = read<W, U32>(wave, plain, 2, buffers[1]);
  const u32* c = kSigns == Signs::kSignedAccumulate ? vector_register<W>(wave, in, in.operands[0])
                                                    : read<W, U32>(wave, plain, 3, buffers[2]);
  const bool by_modifier = kSigns == Signs::kByNegLo;
  const bool signed_a = by_modifier ? (in.neg_lo & 1) != 0 : kSigns != Signs::kUnsigned;
  const bool signed_b = by_modifier ? (in.neg_lo & 2) != 0 : kSigns != Signs::kUnsigned;
  for (int lane = 0; lane < W; ++lane) {
    i64 sum = kSigns == Signs::kUnsigned ? i64{c[lane]} : i64{static_cast<i32>(c[lane])};
    for (int i = 0; i < kCount; ++i) {
      sum += element<kCount>(a[lane], i, signed_a) * element<kCount>(b[lane], i, signed_b);
    }
    if (!in.clamp) {
      result[lane] = static_cast<u32>(sum);
    } else if (kSigns == Signs::kUnsigned) {
      result[lane] = saturate_u32(static_cast<u64>(sum));
    } else {
      result[lane] = static_cast<u32>(saturate_i32(sum));
    }
  }
  write_bits<W>(wave, in, 0, result);
}

// ---- dot products of 2

enum class DotType : u8 { kHalf, kBfloat, kI16, kU16 };
enum class Accumulator : u8 { kThirdSource, kDestination };

template <int W, DotType kType, Accumulator kAccumulator>
void dot_pairs(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  constexpr bool kIsFloat = kType == DotType::kHalf || kType == DotType::kBfloat;
  HalfPairs<W> a;
  HalfPairs<W> b;
  read_pairs<W>(wave, in, 1, a, kIsFloat);
  read_pairs<W>(wave, in, 2, b, kIsFloat);
  u32 buffer[W];
  u32 result[W];
  const u32* c = buffer;
  if (kAccumulator == Accumulator::kDestination) {
    c = vector_register<W>(wave, in, in.operands[0]);
  } else {
    read_bits<W>(wave, in, 3, buffer, Reading::kFloat32);
  }
  const auto to_float = [](u32 x) {
    return kType == DotType::kHalf ? half_to_float(x) : bfloat_to_float(x);
  };
  for (int lane = 0; lane < W; ++lane) {
    if constexpr (kIsFloat) {
      float sum = float_of(c[lane]);
      sum = std::fma(to_float(a.low[lane]), to_float(b.low[lane]), sum);
      sum = std::fma(to_float(a.high[lane]), to_float(b.high[lane]), sum);
      result[lane] = bits_of(sum);
    } else if constexpr (kType == DotType::kI16) {
      const i64 sum = i64{static_cast<i32>(c[lane])} +
                      i64{static_cast<i16>(a.low[lane])} * static_cast<i16>(b.low[lane]) +
                      i64{static_cast<i16>(a.high[lane])} * static_cast<i16>(b.high[lane]);
      result[lane] = static_cast<u32>(in.clamp ? saturate_i32(sum) : static_cast<i32>(sum));
    } else {
      const u64 sum =
          u64{c[lane]} + u64{a.low[lane]} * b.low[lane] + u64{a.high[lane]} * b.high[lane];
      result[lane] = in.clamp ? saturate_u32(sum) : static_cast<u32>(sum);
    }
  }
  write_bits<W>(wave, in, 0, result);
}

}  // namespace

// clang-format off
Operations packed_operations() {
  return {
      half_pairs("v_pk_add_f16", [](float a, float b) { return a + b; }),
      half_pairs("v_pk_mul_f16", [](float a, float b) { return a * b; }),
      pairs<2, Elements::kFloat>("v_pk_max_f16", [](u32 a, u32 b, u32, bool) { return maximum_half(a, b); }),
      pairs<2, Elements::kFloat>("v_pk_min_f16", [](u32 a, u32 b, u32, bool) { return minimum_half(a, b); }),
      pairs<3, Elements::kFloat>("v_pk_fma_f16", [](u32 a, u32 b, u32 c, bool) {
        return double_to_half(double{half_to_float(a)} * half_to_float(b) + half_to_float(c)); }),
      KILN_OPERATION("v_pk_fmac_f16", accumulate_half_pairs),
      pairs<2, Elements::kInteger>("v_pk_add_u16", [](u32 a, u32 b, u32, bool clamp) { return clamp ? std::min(a + b, 65535u) : a + b; }),
      pairs<2, Elements::kInteger>("v_pk_sub_u16", [](u32 a, u32 b, u32, bool clamp) { return clamp && a < b ? 0 : a - b; }),
      pairs<2, Elements::kInteger>("v_pk_mul_lo_u16", [](u32 a, u32 b, u32, bool) { return a * b; }),
      pairs<2, Elements::kInteger>("v_pk_lshlrev_b16", [](u32 a, u32 b, u32, bool) { return b << (a & 15); }),
      pairs<2, Elements::kInteger>("v_pk_lshrrev_b16", [](u32 a, u32 b, u32, bool) { return b >> (a & 15); }),
      pairs<2, Elements::kInteger>("v_pk_ashrrev_i16", [](u32 a, u32 b, u32, bool) { return static_cast<i16>(b) >> (a & 15); }),
      pairs<2, Elements::kInteger>("v_pk_max_u16", [](u32 a, u32 b, u32, bool) { return a > b ? a : b; }),
      pairs<2, Elements::kInteger>("v_pk_min_u16", [](u32 a, u32 b, u32, bool) { return a < b ? a : b; }),
      pairs<2, Elements::kInteger>("v_pk_max_i16", [](u32 a, u32 b, u32, bool) { return static_cast<i16>(a) > static_cast<i16>(b) ? a : b; }),
      pairs<2, Elements::kInteger>("v_pk_min_i16", [](u32 a, u32 b, u32, bool) { return static_cast<i16>(a) < static_cast<i16>(b) ? a : b; }),
      signed_pairs<2>("v_pk_add_i16", [](i64 a, i64 b, i64) { return a + b; }),
      signed_pairs<2>("v_pk_sub_i16", [](i64 a, i64 b, i64) { return a - b; }),
      signed_pairs<3>("v_pk_mad_i16", [](i64 a, i64 b, i64 c) { return a * b + c; }),
      unsigned_pairs<3>("v_pk_mad_u16", [](i64 a, i64 b, i64 c) { return a * b + c; }),
      float_pairs<2>("v_pk_add_f32", [](float a, float b, float) { return a + b; }),
      float_pairs<2>("v_pk_mul_f32", [](float a, float b, float) { return a * b; }),
      float_pairs<3>("v_pk_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      KILN_OPERATION("v_pk_mov_b32", move_pair),
      KILN_OPERATION("v_dot4_i32_i8", dot_integers, 4, Signs::kSigned),
      KILN_OPERATION("v_dot4_u32_u8", dot_integers, 4, Signs::kUnsigned),
      KILN_OPERATION("v_dot4_i32_iu8", dot_integers, 4, Signs::kByNegLo),
      KILN_OPERATION("v_dot4c_i32_i8", dot_integers, 4, Signs::kSignedAccumulate),
      KILN_OPERATION("v_dot8_i32_i4", dot_integers, 8, Signs::kSigned),
      KILN_OPERATION("v_dot8_u32_u4", dot_integers, 8, Signs::kUnsigned),
      KILN_OPERATION("v_dot8_i32_iu4", dot_integers, 8, Signs::kByNegLo),
      KILN_OPERATION("v_dot8c_i32_i4", dot_integers, 8, Signs::kSignedAccumulate),
      KILN_OPERATION("v_dot2_f32_f16", dot_pairs, DotType::kHalf, Accumulator::kThirdSource),
      KILN_OPERATION("v_dot2_f32_bf16", dot_pairs, DotType::kBfloat, Accumulator::kThirdSource),
      KILN_OPERATION("v_dot2_i32_i16", dot_pairs, DotType::kI16, Accumulator::kThirdSource),
      KILN_OPERATION("v_dot2_u32_u16", dot_pairs, DotType::kU16, Accumulator::kThirdSource),
      KILN_OPERATION("v_dot2c_f32_f16", dot_pairs, DotType::kHalf, Accumulator::kDestination),
      KILN_OPERATION("v_dot2acc_f32_f16", dot_pairs, DotType::kHalf, Accumulator::kDestination),
      KILN_OPERATION("v_dot2c_i32_i16", dot_pairs, DotType::kI16, Accumulator::kDestination),
  };
}
// clang-format on

}  // namespace kiln::emulator
