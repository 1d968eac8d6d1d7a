// Floating-point arithmetic on lanes. Transcendental functions are computed in double precision,
// which is closer to the exact result than hardware: that may be off by about one unit in the last
// place.
#include <algorithm>

#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

// ---- half precision, computed in double and rounded once

double fused(double a, double b, double c) { return a * b + c; }
// The product is rounded first.
double unfused(double a, double b, double c) {
  return double{half_to_float(float_to_half(static_cast<float>(a * b)))} + c;
}
using HalfFormula = double (*)(double, double, double);

u32 finish(const Instruction& in, double x) {
  const u32 half = double_to_half(x);
  return in.output_scale != 0 || in.clamp ? finish_half(in, half_to_float(half)) : half;
}

template <int W, UpperHalf kUpper, HalfFormula kFormula>
void multiply_add_half(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  float a[W];
  float b[W];
  float c[W];
  u32 result[W];
  read<W, F16>(wave, in, 1, a);
  read<W, F16>(wave, in, 2, b);
  read<W, F16>(wave, in, 3, c);
  for (int lane = 0; lane < W; ++lane)
    result[lane] = finish(in, kFormula(a[lane], b[lane], c[lane]));
  write_bits16<W>(wave, in, 0, result, kUpper);
}

template <int W, HalfFormula kFormula>
void accumulate_half(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  float a[W];
  float b[W];
  u32 result[W];
  read<W, F16>(wave, in, 1, a);
  read<W, F16>(wave, in, 2, b);
  const u32* old = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < W; ++lane) {
    const u32 c = in.op_sel_destination ? old[lane] >> 16 : old[lane] & 0xffff;
    result[lane] = finish(in, kFormula(a[lane], b[lane], half_to_float(c)));
  }
  write_bits16<W>(wave, in, 0, result, UpperHalf::kKeep);
}

// ---- division

// d, scaled = value, denominator, numerator
template <int W, typename Type>
void scale_for_division(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<Type> buffers[3][W];
  ValueOf<Type> result[W];
  const ValueOf<Type>* value = read<W, Type>(wave, in, 2, buffers[0]);
  const ValueOf<Type>* denominator = read<W, Type>(wave, in, 3, buffers[1]);
  const ValueOf<Type>* numerator = read<W, Type>(wave, in, 4, buffers[2]);
  u64 scaled_lanes = 0;
  for (int lane = 0; lane < W; ++lane) {
    bool scaled = false;
    result[lane] = div_scale(value[lane], denominator[lane], numerator[lane], scaled);
    scaled_lanes |= u64{scaled} << lane;
  }
  write<W, Type>(wave, in, 0, result);
  write_mask<W>(wave, in, in.operands[1], scaled_lanes & wave.write_mask);
}

template <int W, typename Type>
void multiply_add_for_division(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  ValueOf<Type> buffers[3][W];
  ValueOf<Type> result[W];
  const ValueOf<Type>* a = read<W, Type>(wave, in, 1, buffers[0]);
  const ValueOf<Type>* b = read<W, Type>(wave, in, 2, buffers[1]);
  const ValueOf<Type>* c = read<W, Type>(wave, in, 3, buffers[2]);
  const u64 scaled = read_vcc<W>(wave);
  for (int lane = 0; lane < W; ++lane) {
    result[lane] = div_fmas(a[lane], b[lane], c[lane], has_lane<W>(scaled, lane));
  }
  write<W, Type>(wave, in, 0, result);
}

template <int W>
void fix_up_half_division(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  float a[W];
  float b[W];
  float c[W];
  u32 result[W];
  read<W, F16>(wave, in, 1, a);
  read<W, F16>(wave, in, 2, b);
  read<W, F16>(wave, in, 3, c);
  for (int lane = 0; lane < W; ++lane) {
    result[lane] = finish_half(in, div_fixup_half(a[lane], b[lane], c[lane]));
  }
  write_bits16<W>(wave, in, 0, result, UpperHalf::kKeep);
}

// ---- mixed precision (v_fma_mix): op_sel_hi selects the sources that are halves, op_sel the half
// of the register

enum class MixResult : u8 { kFloat, kLowHalf, kHighHalf };
enum class Fused : bool { kNo, kYes };

template <int W>
void read_mixed(const Wave& wave, const Instruction& in, int operand, float* result) {
  const Operand& source = in.operands[static_cast<std::size_t>(operand)];
  const int position = operand - 1;
  const bool is_half = (in.op_sel_hi >> position & 1) != 0;
  const int shift = (in.op_sel >> position & 1) != 0 ? 16 : 0;
  u32 bits[W];
  if (source.is_vector() && in.lanes == LaneMap::kOwn) {
    std::memcpy(bits, vector_register<W>(wave, in, source), sizeof bits);
  } else if (source.is_vector()) {
    const u32* lanes = vector_register<W>(wave, in, source);
    if (position == 0) {
      permute_by_dpp<W>(wave, in, lanes, bits);
    } else {
      std::memcpy(bits, lanes, sizeof bits);
    }
  } else {
    const bool is_half_constant = source.kind == OperandKind::kFloat && is_half;
    const u32 value = is_half_constant ? double_to_half(double_of(source.value))
                                       : read_scalar<W>(wave, in, source);
    std::fill_n(bits, W, value);
  }
  for (int lane = 0; lane < W; ++lane) {
    float x = is_half ? half_to_float(bits[lane] >> shift & 0xffff) : float_of(bits[lane]);
    if (source.absolute || (in.neg_hi >> position & 1) != 0) x = std::fabs(x);
    if (source.negate || (in.neg_lo >> position & 1) != 0) x = -x;
    result[lane] = x;
  }
}

template <int W, MixResult kResult, Fused kFused>
void multiply_add_mixed(Wave& wave, const Instruction& in) {
  begin_vector<W>(wave, in);
  float a[W];
  float b[W];
  float c[W];
  u32 result[W];
  read_mixed<W>(wave, in, 1, a);
  read_mixed<W>(wave, in, 2, b);
  read_mixed<W>(wave, in, 3, c);
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < W; ++lane) {
    float x =
        kFused == Fused::kYes ? std::fma(a[lane], b[lane], c[lane]) : a[lane] * b[lane] + c[lane];
    if (in.clamp) x = clamp_to_one(x);
    if (kResult == MixResult::kFloat) {
      result[lane] = bits_of(x);
    } else if (kResult == MixResult::kLowHalf) {
      result[lane] = (destination[lane] & 0xffff0000u) | float_to_half(x);
    } else {
      result[lane] = (destination[lane] & 0xffff) | float_to_half(x) << 16;
    }
  }
  write_lanes<W>(destination, result, wave.write_mask);
}

}  // namespace

// clang-format off
Operations float_operations() {
  return {
      binary<F32, F32, F32>("v_add_f32", [](float a, float b) { return a + b; }),
      binary<F32, F32, F32>("v_sub_f32", [](float a, float b) { return a - b; }),
      binary<F32, F32, F32>("v_subrev_f32", [](float a, float b) { return b - a; }),
      binary<F32, F32, F32>("v_mul_f32", [](float a, float b) { return a * b; }),
      binary<F32, F32, F32>("v_mul_legacy_f32", [](float a, float b) { return (a == 0 || b == 0) ? 0.f : a * b; }),
      binary<F32, F32, F32>("v_max_f32", [](float a, float b) { return maximum(a, b); }),
      binary<F32, F32, F32>("v_min_f32", [](float a, float b) { return minimum(a, b); }),
      ternary<F32, F32, F32, F32>("v_max3_f32", [](float a, float b, float c) { return maximum(maximum(a, b), c); }),
      ternary<F32, F32, F32, F32>("v_min3_f32", [](float a, float b, float c) { return minimum(minimum(a, b), c); }),
      ternary<F32, F32, F32, F32>("v_med3_f32", [](float a, float b, float c) { return median(a, b, c); }),
      ternary<F32, F32, F32, F32>("v_maxmin_f32", [](float a, float b, float c) { return minimum(maximum(a, b), c); }),
      ternary<F32, F32, F32, F32>("v_minmax_f32", [](float a, float b, float c) { return maximum(minimum(a, b), c); }),
      ternary<F32, F32, F32, F32>("v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      accumulate<F32, F32, F32>("v_fmac_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      ternary<F32, F32, F32, F32>("v_fmaak_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      ternary<F32, F32, F32, F32>("v_fmamk_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      ternary<F32, F32, F32, F32>("v_mad_f32", [](float a, float b, float c) { return a * b + c; }),
      accumulate<F32, F32, F32>("v_mac_f32", [](float a, float b, float c) { return a * b + c; }),
      ternary<F32, F32, F32, F32>("v_madak_f32", [](float a, float b, float c) { return a * b + c; }),
      ternary<F32, F32, F32, F32>("v_madmk_f32", [](float a, float b, float c) { return a * b + c; }),
      ternary<F32, F32, F32, F32>("v_fma_legacy_f32", [](float a, float b, float c) { return (a == 0 || b == 0) ? c : std::fma(a, b, c); }),
      binary<F64, F64, F64>("v_add_f64", [](double a, double b) { return a + b; }),
      binary<F64, F64, F64>("v_mul_f64", [](double a, double b) { return a * b; }),
      binary<F64, F64, F64>("v_max_f64", [](double a, double b) { return maximum(a, b); }),
      binary<F64, F64, F64>("v_min_f64", [](double a, double b) { return minimum(a, b); }),
      ternary<F64, F64, F64, F64>("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
      accumulate<F64, F64, F64>("v_fmac_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
      binary<F16, F16, F16>("v_add_f16", [](float a, float b) { return a + b; }),
      binary<F16, F16, F16>("v_sub_f16", [](float a, float b) { return a - b; }),
      binary<F16, F16, F16>("v_subrev_f16", [](float a, float b) { return b - a; }),
      binary<F16, F16, F16>("v_mul_f16", [](float a, float b) { return a * b; }),
      binary<HalfBits, HalfBits, HalfBits>("v_max_f16", [](u32 a, u32 b) { return maximum_half(a, b); }),
      binary<HalfBits, HalfBits, HalfBits>("v_min_f16", [](u32 a, u32 b) { return minimum_half(a, b); }),
      ternary<HalfBits, HalfBits, HalfBits, HalfBits>("v_max3_f16", [](u32 a, u32 b, u32 c) { return maximum_half(maximum_half(a, b), c); }),
      ternary<HalfBits, HalfBits, HalfBits, HalfBits>("v_min3_f16", [](u32 a, u32 b, u32 c) { return minimum_half(minimum_half(a, b), c); }),
      ternary<HalfBits, HalfBits, HalfBits, HalfBits>("v_med3_f16", [](u32 a, u32 b, u32 c) { return median_half(a, b, c); }),
      ternary<HalfBits, HalfBits, HalfBits, HalfBits>("v_maxmin_f16", [](u32 a, u32 b, u32 c) { return minimum_half(maximum_half(a, b), c); }),
      ternary<HalfBits, HalfBits, HalfBits, HalfBits>("v_minmax_f16", [](u32 a, u32 b, u32 c) { return maximum_half(minimum_half(a, b), c); }),
      unary<F32, F32>("v_rcp_f32", [](float a) { return 1.0 / static_cast<double>(a); }),
      unary<F32, F32>("v_rcp_iflag_f32", [](float a) { return 1.0 / static_cast<double>(a); }),
      unary<F32, F32>("v_rsq_f32", [](float a) { return 1.0 / std::sqrt(static_cast<double>(a)); }),
      unary<F32, F32>("v_sqrt_f32", [](float a) { return std::sqrt(a); }),
      unary<F32, F32>("v_exp_f32", [](float a) { return std::exp2(static_cast<double>(a)); }),
      unary<F32, F32>("v_log_f32", [](float a) { return std::log2(static_cast<double>(a)); }),
      unary<F32, F32>("v_sin_f32", [](float a) { return sine_of_turns(a); }),
      unary<F32, F32>("v_cos_f32", [](float a) { return cosine_of_turns(a); }),
      unary<F64, F64>("v_rcp_f64", [](double a) { return 1.0 / a; }),
      unary<F64, F64>("v_rsq_f64", [](double a) { return 1.0 / std::sqrt(a); }),
      unary<F64, F64>("v_sqrt_f64", [](double a) { return std::sqrt(a); }),
      unary<F16, F16>("v_rcp_f16", [](float a) { return 1.f / a; }),
      unary<F16, F16>("v_rsq_f16", [](float a) { return 1.f / std::sqrt(a); }),
      unary<F16, F16>("v_sqrt_f16", [](float a) { return std::sqrt(a); }),
      unary<F16, F16>("v_exp_f16", [](float a) { return std::exp2(a); }),
      unary<F16, F16>("v_log_f16", [](float a) { return std::log2(a); }),
      unary<F16, F16>("v_sin_f16", [](float a) { return sine_of_turns(a); }),
      unary<F16, F16>("v_cos_f16", [](float a) { return cosine_of_turns(a); }),
      unary<F32, F32>("v_fract_f32", [](float a) { return (a != a || std::isinf(a)) ? kNaN : std::min(a - std::floor(a), 0x1.fffffep-1f); }),
      unary<F64, F64>("v_fract_f64", [](double a) { return (a != a || std::isinf(a)) ? double{kNaN} : std::min(a - std::floor(a), 0x1.fffffffffffffp-1); }),
      unary<F16, F16>("v_fract_f16", [](float a) { return a - std::floor(a); }),
      unary<F32, F32>("v_frexp_mant_f32", [](float a) { return mantissa(a); }),
      unary<F64, F64>("v_frexp_mant_f64", [](double a) { return mantissa(a); }),
      unary<F16, F16>("v_frexp_mant_f16", [](float a) { return mantissa(a); }),
      unary<I32, F32>("v_frexp_exp_i32_f32", [](float a) { return exponent(a); }),
      unary<I32, F64>("v_frexp_exp_i32_f64", [](double a) { return exponent(a); }),
      unary<I16, F16>("v_frexp_exp_i16_f16", [](float a) { return exponent(a); }),
      binary<F32, F32, I32>("v_ldexp_f32", [](float a, i32 b) { return std::ldexp(a, b); }),
      binary<F64, F64, I32>("v_ldexp_f64", [](double a, i32 b) { return std::ldexp(a, b); }),
      binary<F16, F16, I16>("v_ldexp_f16", [](float a, i32 b) { return std::ldexp(a, b); }),
      binary<F64, F64, U32>("v_trig_preop_f64", [](double a, u32 b) { return trig_preop(a, b); }),
      ternary<F32, F32, F32, F32>("v_div_fixup_f32", [](float a, float b, float c) { return div_fixup(a, b, c); }),
      ternary<F64, F64, F64, F64>("v_div_fixup_f64", [](double a, double b, double c) { return div_fixup(a, b, c); }),
      unary<F32, F32>("v_floor_f32", [](float a) { return std::floor(a); }),
      unary<F64, F64>("v_floor_f64", [](double a) { return std::floor(a); }),
      unary<F16, F16>("v_floor_f16", [](float a) { return std::floor(a); }),
      unary<F32, F32>("v_ceil_f32", [](float a) { return std::ceil(a); }),
      unary<F64, F64>("v_ceil_f64", [](double a) { return std::ceil(a); }),
      unary<F16, F16>("v_ceil_f16", [](float a) { return std::ceil(a); }),
      unary<F32, F32>("v_trunc_f32", [](float a) { return std::trunc(a); }),
      unary<F64, F64>("v_trunc_f64", [](double a) { return std::trunc(a); }),
      unary<F16, F16>("v_trunc_f16", [](float a) { return std::trunc(a); }),
      unary<F32, F32>("v_rndne_f32", [](float a) { return std::nearbyint(a); }),
      unary<F64, F64>("v_rndne_f64", [](double a) { return std::nearbyint(a); }),
      unary<F16, F16>("v_rndne_f16", [](float a) { return std::nearbyint(a); }),
      KILN_OPERATION("v_fma_f16", multiply_add_half, UpperHalf::kKeep, fused),
      KILN_OPERATION("v_fmaak_f16", multiply_add_half, UpperHalf::kKeep, fused),
      KILN_OPERATION("v_fmamk_f16", multiply_add_half, UpperHalf::kKeep, fused),
      KILN_OPERATION("v_fmac_f16", accumulate_half, fused),
      KILN_OPERATION("v_mad_f16", multiply_add_half, UpperHalf::kKeep, unfused),
      KILN_OPERATION("v_mad_legacy_f16", multiply_add_half, UpperHalf::kByGeneration, unfused),
      KILN_OPERATION("v_madak_f16", multiply_add_half, UpperHalf::kKeep, unfused),
      KILN_OPERATION("v_madmk_f16", multiply_add_half, UpperHalf::kKeep, unfused),
      KILN_OPERATION("v_mac_f16", accumulate_half, unfused),
      KILN_OPERATION("v_div_scale_f32", scale_for_division, F32),
      KILN_OPERATION("v_div_scale_f64", scale_for_division, F64),
      KILN_OPERATION("v_div_fmas_f32", multiply_add_for_division, F32),
      KILN_OPERATION("v_div_fmas_f64", multiply_add_for_division, F64),
      KILN_OPERATION("v_div_fixup_f16", fix_up_half_division),
      KILN_OPERATION("v_fma_mix_f32", multiply_add_mixed, MixResult::kFloat, Fused::kYes),
      KILN_OPERATION("v_fma_mixlo_f16", multiply_add_mixed, MixResult::kLowHalf, Fused::kYes),
      KILN_OPERATION("v_fma_mixhi_f16", multiply_add_mixed, MixResult::kHighHalf, Fused::kYes),
      KILN_OPERATION("v_mad_mix_f32", multiply_add_mixed, MixResult::kFloat, Fused::kNo),
      KILN_OPERATION("v_mad_mixlo_f16", multiply_add_mixed, MixResult::kLowHalf, Fused::kNo),
      KILN_OPERATION("v_mad_mixhi_f16", multiply_add_mixed, MixResult::kHighHalf, Fused::kNo),
  };
}
// clang-format on

}  // namespace kiln::emulator
