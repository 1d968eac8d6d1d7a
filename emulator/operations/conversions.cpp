// Conversions between number formats, lane by lane.
#include "emulator/operations/rows.hpp"

namespace kiln::emulator {
namespace {

u32 pack_i16(float x) { return static_cast<u16>(median_integer(to_i32(x), -32768, 32767)); }
u32 pack_u16(float x) {
  const u32 integer = to_u32(x);
  return integer > 65535 ? 65535 : integer;
}
u32 normalize_i16(float x) {
  const float clamped = x != x ? 0 : x < -1 ? -1 : x > 1 ? 1 : x;
  return static_cast<u16>(static_cast<i16>(std::nearbyint(clamped * 32767.f)));
}
u32 normalize_u16(float x) { return static_cast<u16>(std::nearbyint(clamp_to_one(x) * 65535.f)); }

// v_cvt_pk_u8_f32: inserts `x` as byte `index` of `bytes`.
u32 insert_byte(float x, u32 index, u32 bytes) {
  const u32 byte = x != x || x <= 0 ? 0 : x >= 255.f ? 255 : static_cast<u32>(std::nearbyint(x));
  const u32 shift = 8 * (index & 3);
  return (bytes & ~(255u << shift)) | byte << shift;
}

}  // namespace

// clang-format off
Operations conversion_operations() {
  return {
      unary<F32, I32>("v_cvt_f32_i32", [](i32 a) { return a; }),
      unary<F32, U32>("v_cvt_f32_u32", [](u32 a) { return a; }),
      unary<I32, F32>("v_cvt_i32_f32", [](float a) { return to_i32(a); }),
      unary<U32, F32>("v_cvt_u32_f32", [](float a) { return to_u32(a); }),
      unary<I32, F32>("v_cvt_rpi_i32_f32", [](float a) { return to_i32(std::floor(static_cast<double>(a) + 0.5)); }),
      unary<I32, F32>("v_cvt_flr_i32_f32", [](float a) { return to_i32(std::floor(static_cast<double>(a))); }),
      unary<I32, F32>("v_cvt_nearest_i32_f32", [](float a) { return to_i32(std::floor(static_cast<double>(a) + 0.5)); }),
      unary<I32, F32>("v_cvt_floor_i32_f32", [](float a) { return to_i32(std::floor(static_cast<double>(a))); }),
      unary<F64, I32>("v_cvt_f64_i32", [](i32 a) { return a; }),
      unary<F64, U32>("v_cvt_f64_u32", [](u32 a) { return a; }),
      unary<I32, F64>("v_cvt_i32_f64", [](double a) { return to_i32(a); }),
      unary<U32, F64>("v_cvt_u32_f64", [](double a) { return to_u32(a); }),
      unary<F32, F64>("v_cvt_f32_f64", [](double a) { return a; }),
      unary<F64, F32>("v_cvt_f64_f32", [](float a) { return a; }),
      unary<F32, F16>("v_cvt_f32_f16", [](float a) { return a; }),
      unary<F16, F32>("v_cvt_f16_f32", [](float a) { return a; }),
      unary<F16, U16>("v_cvt_f16_u16", [](u32 a) { return a & 0xffff; }),
      unary<F16, I16>("v_cvt_f16_i16", [](i32 a) { return a; }),
      unary<U16, F16>("v_cvt_u16_f16", [](float a) { return a != a ? 0 : a <= 0 ? 0 : a >= 65535.f ? 65535 : static_cast<u32>(a); }),
      unary<I16, F16>("v_cvt_i16_f16", [](float a) { return a != a ? 0 : a <= -32768.f ? -32768 : a >= 32767.f ? 32767 : static_cast<i32>(a); }),
      unary<F32, U32>("v_cvt_f32_ubyte0", [](u32 a) { return a & 255; }),
      unary<F32, U32>("v_cvt_f32_ubyte1", [](u32 a) { return a >> 8 & 255; }),
      unary<F32, U32>("v_cvt_f32_ubyte2", [](u32 a) { return a >> 16 & 255; }),
      unary<F32, U32>("v_cvt_f32_ubyte3", [](u32 a) { return a >> 24; }),
      unary<I32, I16>("v_cvt_i32_i16", [](i32 a) { return a; }),
      unary<U32, U16>("v_cvt_u32_u16", [](u32 a) { return a & 0xffff; }),
      unary<F32, U32>("v_cvt_off_f32_i4", [](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) / 16.f; }),
      binary<U32, F32, F32>("v_cvt_pk_rtz_f16_f32", [](float a, float b) { return float_to_half_toward_zero(a) | float_to_half_toward_zero(b) << 16; }),
      binary<U32, U32, U32>("v_cvt_pk_u16_u32", [](u32 a, u32 b) { return (a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16; }),
      binary<U32, I32, I32>("v_cvt_pk_i16_i32", [](i32 a, i32 b) { return u32{static_cast<u16>(median_integer(a, -32768, 32767))} | u32{static_cast<u16>(median_integer(b, -32768, 32767))} << 16; }),
      binary<U32, F32, F32>("v_cvt_pk_i16_f32", [](float a, float b) { return pack_i16(a) | pack_i16(b) << 16; }),
      binary<U32, F32, F32>("v_cvt_pk_u16_f32", [](float a, float b) { return pack_u16(a) | pack_u16(b) << 16; }),
      binary<U32, F32, F32>("v_cvt_pk_norm_i16_f32", [](float a, float b) { return normalize_i16(a) | normalize_i16(b) << 16; }),
      binary<U32, F32, F32>("v_cvt_pk_norm_u16_f32", [](float a, float b) { return normalize_u16(a) | normalize_u16(b) << 16; }),
      ternary<U32, F32, U32, U32>("v_cvt_pk_u8_f32", [](float a, u32 b, u32 c) { return insert_byte(a, b, c); }),
  };
}
// clang-format on

}  // namespace kiln::emulator
