// Conversions between number formats.
#include <algorithm>

#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

constexpr Wide kLowest32 = -(Wide{1} << 31);
constexpr Wide kHighest32 = (Wide{1} << 31) - 1;
constexpr Wide kHighestUnsigned32 = (Wide{1} << 32) - 1;

Wide to_i32(Real x) { return to_integer(x, kLowest32, kHighest32); }
Wide to_u32(Real x) { return to_integer(x, 0, kHighestUnsigned32); }
Wide clamped(Wide x, Wide lowest, Wide highest) { return std::clamp(x, lowest, highest); }

// Packs two 16-bit results, the first one in the low half.
Wide pair(Wide low, Wide high) {
  return static_cast<Wide>(low_bits(low, 16) | low_bits(high, 16) << 16);
}
Wide byte_of(Wide x, int i) { return x >> (8 * i) & 255; }

// Scales a float to the range of an integer, to nearest.
Wide share(Real x, Wide lowest, Wide highest) {
  if (is_nan(x)) return 0;
  const Real bounded = std::clamp(x, lowest < 0 ? Real{-1} : Real{0}, Real{1});
  // The product is first rounded to a float.
  const Real product = real_of(round_to(bounded * static_cast<Real>(highest), kSingle), kSingle);
  return to_integer(to_nearest_even(product), lowest, highest);
}

// Every edge value that is a number: the sign of NaNs is not modelled.
std::vector<u64> numbers() {
  std::vector<u64> values = edges_of(F<32>::kKind);
  std::erase_if(values, [](u64 raw) { return kSingle.is_nan(raw); });
  for (u64 raw = 0x33000000; raw < 0x48000000; raw += 0x0012d687)
    values.push_back(raw | (raw & 1) << 31);
  return values;
}

}  // namespace

// clang-format off
Formulas conversion_formulas() {
  using F16 = F<16>;
  using F32 = F<32>;
  using F64 = F<64>;
  using I32 = I<32>;
  using U32 = U<32>;
  const auto same = [](Real x) { return x; };
  const auto value = [](Wide x) { return static_cast<Real>(x); };
  const auto nearest = [](Real x) { return to_i32(floored(sum(x, Real{0.5}))); };
  const auto below = [](Real x) { return to_i32(floored(x)); };
  const auto toward_zero = [](Real x) { return static_cast<Wide>(round_to(x, kHalf, Rounding::kTowardZero)); };
  return {
      vector<F32, I32>("v_cvt_f32_i32", value),
      vector<F32, U32>("v_cvt_f32_u32", value),
      vector<F64, I32>("v_cvt_f64_i32", value),
      vector<F64, U32>("v_cvt_f64_u32", value),
      vector<F16, I<16>>("v_cvt_f16_i16", value),
      vector<F16, U<16>>("v_cvt_f16_u16", value),
      vector<I32, F32>("v_cvt_i32_f32", to_i32),
      vector<U32, F32>("v_cvt_u32_f32", to_u32),
      vector<I32, F64>("v_cvt_i32_f64", to_i32),
      vector<U32, F64>("v_cvt_u32_f64", to_u32),
      vector<I<16>, F16>("v_cvt_i16_f16", [](Real x) { return to_integer(x, -32768, 32767); }),
      vector<U<16>, F16>("v_cvt_u16_f16", [](Real x) { return to_integer(x, 0, 65535); }),
      vector<I32, F32>("v_cvt_rpi_i32_f32", nearest),
      vector<I32, F32>("v_cvt_nearest_i32_f32", nearest),
      vector<I32, F32>("v_cvt_flr_i32_f32", below),
      vector<I32, F32>("v_cvt_floor_i32_f32", below),
      vector<F32, F64>("v_cvt_f32_f64", same),
      vector<F64, F32>("v_cvt_f64_f32", same),
      vector<F32, F16>("v_cvt_f32_f16", same),
      vector<F16, F32>("v_cvt_f16_f32", same),
      vector<F32, U32>("v_cvt_f32_ubyte0", [](Wide x) { return static_cast<Real>(byte_of(x, 0)); }),
      vector<F32, U32>("v_cvt_f32_ubyte1", [](Wide x) { return static_cast<Real>(byte_of(x, 1)); }),
      vector<F32, U32>("v_cvt_f32_ubyte2", [](Wide x) { return static_cast<Real>(byte_of(x, 2)); }),
      vector<F32, U32>("v_cvt_f32_ubyte3", [](Wide x) { return static_cast<Real>(byte_of(x, 3)); }),
      vector<I32, I<16>>("v_cvt_i32_i16", [](Wide x) { return x; }),
      vector<U32, U<16>>("v_cvt_u32_u16", [](Wide x) { return x; }),
      vector<F32, U32>("v_cvt_off_f32_i4", [](Wide x) { return static_cast<Real>(sign_extended(static_cast<u64>(x), 4)) / 16; }),
      vector<U32, F32, F32>("v_cvt_pk_rtz_f16_f32", [=](Real a, Real b) { return pair(toward_zero(a), toward_zero(b)); }, {.values = {numbers(), numbers()}}),
      vector<U32, U32, U32>("v_cvt_pk_u16_u32", [](Wide a, Wide b) { return pair(clamped(a, 0, 65535), clamped(b, 0, 65535)); }),
      vector<U32, I32, I32>("v_cvt_pk_i16_i32", [](Wide a, Wide b) { return pair(clamped(a, -32768, 32767), clamped(b, -32768, 32767)); }),
      vector<U32, F32, F32>("v_cvt_pk_i16_f32", [](Real a, Real b) { return pair(to_integer(a, -32768, 32767), to_integer(b, -32768, 32767)); }),
      vector<U32, F32, F32>("v_cvt_pk_u16_f32", [](Real a, Real b) { return pair(to_integer(a, 0, 65535), to_integer(b, 0, 65535)); }),
      vector<U32, F32, F32>("v_cvt_pk_norm_i16_f32", [](Real a, Real b) { return pair(share(a, -32768, 32767), share(b, -32768, 32767)); }),
      vector<U32, F32, F32>("v_cvt_pk_norm_u16_f32", [](Real a, Real b) { return pair(share(a, 0, 65535), share(b, 0, 65535)); }),
      // The documents do not specify the rounding; programs for gfx9 show that it is to nearest.
      vector<U32, F32, U32, U32>("v_cvt_pk_u8_f32", [](Real x, Wide index, Wide bytes) {
        const int place = 8 * static_cast<int>(index % 4);
        return bytes - (bytes & (Wide{255} << place)) + (to_integer(to_nearest_even(x), 0, 255) << place); }),
  };
}
// clang-format on

}  // namespace kiln::formulas
