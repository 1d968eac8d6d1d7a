// Matrix products of a whole wave: WMMA (gfx11, 32 lanes) and MFMA (gfx9, 64 lanes, one block).
//
// Sums are computed in the order of k, with one fused multiply-add at a time. Hardware may use
// another order.
#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

enum class Element : u8 { kHalf, kBfloat, kFloat, kI8 };

// Returns element `index` of a lane's registers; a register holds two 16-bit elements.
template <int W>
float element_at(const Wave& wave, const Instruction& in, int operand, int index, int lane,
                 Element type) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  if (!source.is_vector()) {
    return type == Element::kFloat ? float_of(read_scalar<W>(wave, in, source)) : 0;
  }
  const u32* registers = vector_register<W>(wave, in, source);
  if (type == Element::kFloat) return float_of(registers[index * W + lane]);
  const u32 pair = registers[index / 2 * W + lane];
  const u32 bits = index % 2 != 0 ? pair >> 16 : pair & 0xffff;
  return type == Element::kHalf ? half_to_float(bits) : bfloat_to_float(bits);
}

void require_width(const Wave& wave, const Instruction& in, bool fits) {
  if (!fits)
    raise(wave, in, FaultKind::kUnsupported, "a matrix instruction in a wave of this width");
}

// ---- WMMA: D = A * B + C, 16 x 16 x 16. Row 2 r + lane / 16 of C is in register r.

enum class Accumulate : u8 { kFloat, kSixteenBits };

template <int W, Element kType, Accumulate kAccumulate>
void wmma(Wave& wave, const Instruction& in) {
  require_width(wave, in, W == 32);
  float a[16][16];
  float b[16][16];
  float c[16][16];
  const auto signed_by = [&](float x, int source, int k) {
    const u8 negated = k % 2 == 0 ? in.neg_lo : in.neg_hi;
    return (negated >> source & 1) != 0 ? -x : x;
  };
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      a[i][k] = signed_by(element_at<W>(wave, in, 1, k, i, kType), 0, k);
      b[k][i] = signed_by(element_at<W>(wave, in, 2, k, i, kType), 1, k);
    }
  }
  const int half = in.op_sel >> 2 & 1;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 8; ++r) {
      float x = 0;
      if (kAccumulate == Accumulate::kFloat) {
        x = element_at<W>(wave, in, 3, r, lane, Element::kFloat);
      } else if (in.operands[3].is_vector()) {
        x = element_at<W>(wave, in, 3, 2 * r + half, lane, kType);
      }
      if ((in.neg_hi & 4) != 0) x = std::fabs(x);
      if ((in.neg_lo & 4) != 0) x = -x;
      c[2 * r + lane / 16][lane % 16] = x;
    }
  }
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      for (int k = 0; k < 16; ++k) c[i][j] = std::fma(a[i][k], b[k][j], c[i][j]);
    }
  }
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 8; ++r) {
      const float x = c[2 * r + lane / 16][lane % 16];
      u32& result = destination[r * W + lane];
      if (kAccumulate == Accumulate::kFloat) {
        result = bits_of(x);
        continue;
      }
      const u32 bits = bits_of(x);
      const u32 narrow = kType == Element::kHalf
                             ? float_to_half(x)
                             : (bits + 0x7fff + (bits >> 16 & 1)) >> 16 & 0xffff;
      result = half != 0 ? (result & 0xffff) | narrow << 16 : (result & 0xffff0000u) | narrow;
    }
  }
}

template <int W, int kBits>
void wmma_integers(Wave& wave, const Instruction& in) {
  require_width(wave, in, W == 32);
  constexpr int kPerRegister = 32 / kBits;
  const auto integer = [&](int operand, int index, int lane) {
    const u32* registers =
        vector_register<W>(wave, in, in.operands[static_cast<std::size_t>(operand)]);
    const u32 bits = registers[index / kPerRegister * W + lane] >> (kBits * (index % kPerRegister));
    const u32 top = bits << (32 - kBits);
    const bool is_signed = (in.neg_lo >> (operand - 1) & 1) != 0;
    return is_signed ? static_cast<i32>(top) >> (32 - kBits)
                     : static_cast<i32>(top >> (32 - kBits));
  };
  i32 a[16][16];
  i32 b[16][16];
  i64 c[16][16];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      a[i][k] = integer(1, k, i);
      b[k][i] = integer(2, k, i);
    }
  }
  const Operand& addend = in.operands[3];
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 8; ++r) {
      const u32 x = addend.is_vector() ? vector_register<W>(wave, in, addend)[r * W + lane]
                                       : read_scalar<W>(wave, in, addend);
      c[2 * r + lane / 16][lane % 16] = static_cast<i32>(x);
    }
  }
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      for (int k = 0; k < 16; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 8; ++r) {
      const i64 x = c[2 * r + lane / 16][lane % 16];
      destination[r * W + lane] =
          static_cast<u32>(in.clamp ? saturate_i32(x) : static_cast<i32>(x));
    }
  }
}

// ---- MFMA: D = A * B + C, M x M x K

template <int W, int kM, int kK, Element kType>
void mfma(Wave& wave, const Instruction& in) {
  require_width(wave, in, W == 64);
  constexpr int kPerLane = kM * kK / 64;
  constexpr int kResults = kM * kM / 64;
  if (in.words[1] >> 29 != 0 || (in.words[0] >> 8 & 7) != 0 || (in.words[0] >> 11 & 15) != 0) {
    raise(wave, in, FaultKind::kUnsupported, "an MFMA with cbsz, abid or blgp");
  }
  double a[kM][kK];
  double b[kK][kM];
  double c[kM][kM];
  const auto number = [&](int operand, int index, int lane) -> double {
    if (kType != Element::kI8) return element_at<W>(wave, in, operand, index, lane, kType);
    const u32* registers =
        vector_register<W>(wave, in, in.operands[static_cast<std::size_t>(operand)]);
    return static_cast<i8>(registers[lane] >> (8 * index));
  };
  const auto row_of = [](int lane, int r) {
    return kM == 16 ? 4 * (lane / 16) + r : 8 * (r / 4) + 4 * (lane / 32) + r % 4;
  };
  for (int lane = 0; lane < 64; ++lane) {
    for (int j = 0; j < kPerLane; ++j) {
      const int k = kPerLane * (lane / kM) + j;
      a[lane % kM][k] = number(1, j, lane);
      b[k][lane % kM] = number(2, j, lane);
    }
  }
  const Operand& addend = in.operands[3];
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < kResults; ++r) {
      const u32 x = addend.is_vector() ? vector_register<W>(wave, in, addend)[r * W + lane]
                                       : read_scalar<W>(wave, in, addend);
      c[row_of(lane, r)][lane % kM] = kType == Element::kI8
                                          ? double{static_cast<double>(static_cast<i32>(x))}
                                          : double{float_of(x)};
    }
  }
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kM; ++j) {
      for (int k = 0; k < kK; ++k) {
        c[i][j] = kType == Element::kI8
                      ? c[i][j] + a[i][k] * b[k][j]
                      : std::fma(static_cast<float>(a[i][k]), static_cast<float>(b[k][j]),
                                 static_cast<float>(c[i][j]));
      }
    }
  }
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < 64; ++lane) {
    for (int r = 0; r < kResults; ++r) {
      const double x = c[row_of(lane, r)][lane % kM];
      destination[r * W + lane] = kType == Element::kI8 ? static_cast<u32>(static_cast<i64>(x))
                                                        : bits_of(static_cast<float>(x));
    }
  }
}

}  // namespace

// clang-format off
Operations matrix_operations() {
  return {
      KILN_OPERATION("v_wmma_f32_16x16x16_f16", wmma, Element::kHalf, Accumulate::kFloat),
      KILN_OPERATION("v_wmma_f32_16x16x16_bf16", wmma, Element::kBfloat, Accumulate::kFloat),
      KILN_OPERATION("v_wmma_f16_16x16x16_f16", wmma, Element::kHalf, Accumulate::kSixteenBits),
      KILN_OPERATION("v_wmma_bf16_16x16x16_bf16", wmma, Element::kBfloat, Accumulate::kSixteenBits),
      KILN_OPERATION("v_wmma_i32_16x16x16_iu8", wmma_integers, 8),
      KILN_OPERATION("v_wmma_i32_16x16x16_iu4", wmma_integers, 4),
      KILN_OPERATION("v_mfma_f32_32x32x8f16", mfma, 32, 8, Element::kHalf),
      KILN_OPERATION("v_mfma_f32_16x16x16f16", mfma, 16, 16, Element::kHalf),
      KILN_OPERATION("v_mfma_f32_32x32x8bf16_1k", mfma, 32, 8, Element::kBfloat),
      KILN_OPERATION("v_mfma_f32_16x16x16bf16_1k", mfma, 16, 16, Element::kBfloat),
      KILN_OPERATION("v_mfma_f32_32x32x2f32", mfma, 32, 2, Element::kFloat),
      KILN_OPERATION("v_mfma_f32_16x16x4f32", mfma, 16, 4, Element::kFloat),
      KILN_OPERATION("v_mfma_i32_32x32x8i8", mfma, 32, 8, Element::kI8),
      KILN_OPERATION("v_mfma_i32_16x16x16i8", mfma, 16, 16, Element::kI8),
      KILN_OPERATION("v_mfma_f32_32x32x4bf16", mfma, 32, 4, Element::kBfloat),
      KILN_OPERATION("v_mfma_f32_16x16x8bf16", mfma, 16, 8, Element::kBfloat),
  };
}
// clang-format on

}  // namespace kiln::emulator
