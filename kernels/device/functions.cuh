// f32 functions that replace the vendors' where those would take longer than the memory accesses.
// They are the same for every vendor, take few instructions, and do not diverge for usual
// arguments.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

// a / b from `reciprocal`, an approximation of 1 / b, within one unit in the last place, if all of
// them are normal.
KILN_DEVICE f32 corrected_quotient(f32 a, f32 b, f32 reciprocal) {
  const f32 quotient = a * reciprocal;
  return math::fma(math::fma(-quotient, b, a), reciprocal, quotient);
}

// a / b for b in [1, 2] and a normal quotient, within one unit in the last place. NaN stays NaN.
KILN_DEVICE f32 quotient_by_one_to_two(f32 a, f32 b) {
  return corrected_quotient(a, b, reciprocal_approximate(b));
}

// a / b of two numbers of at most 11 significant bits, each with a magnitude from 2^-24 to 2^16, a
// zero, an infinity or NaN. Rounding it to 11 bits gives the correctly rounded quotient. For if the
// quotient is not the midpoint m of two results, a - m b is at least one unit of the product, so
// the quotient is more than 2^-23 m away from m. The correction leaves an error of 2^-24 and less
// than 2^-40 of the quotient, and none if it is m.
//
// Measured on an H200, reference geometry, in us, the vendor's -> this: bdiv_f16 of 150,000
// elements 2.78 -> 2.22, of 2^22 14.0 -> 10.5.
KILN_DEVICE f32 quotient_of_short(f32 a, f32 b) {
  const f32 reciprocal = reciprocal_approximate(b);
  const f32 quotient = corrected_quotient(a, b, reciprocal);
  // An infinity or a zero makes the correction NaN, or a zero of the wrong sign.
  return math::abs(quotient) > 0 ? quotient : a * reciprocal;
}

// The standard normal distribution function, within 7 units in the last place, tails included.
//
// cdf(-x) = erfc(x / sqrt 2) / 2 = exp(-x^2 / 2) * erfcx(x / sqrt 2) / 2 for x >= 0. A polynomial
// of degree 8 in t = 1 / (1 + x / sqrt 8) approximates erfcx(x / sqrt 2) / (2 t) to 5.4e-8. It is a
// fit for 0 <= x <= 14; beyond, the tail is too small for f32.
KILN_DEVICE f32 normal_cdf(f32 x) {
  const f32 magnitude = math::abs(x);
  const f32 a = magnitude > 16.0f ? 16.0f : magnitude;
  const f32 d = math::fma(a, 0x1.6a09e6p-2f, 1.0f);
  const f32 r = reciprocal_approximate(d);
  const f32 t = math::fma(r, math::fma(-d, r, 1.0f), r);
  f32 p = -0x1.e48dd2p-6f;
  p = math::fma(p, t, 0x1.23cf06p-3f);
  p = math::fma(p, t, -0x1.f3bb12p-3f);
  p = math::fma(p, t, 0x1.1db39cp-3f);
  p = math::fma(p, t, -0x1.bed98ap-7f);
  p = math::fma(p, t, 0x1.9faa5ep-4f);
  p = math::fma(p, t, 0x1.f1bbe2p-4f);
  p = math::fma(p, t, 0x1.212982p-3f);
  p = math::fma(p, t, 0x1.20db1ep-3f);
  const f32 square = math::rounded_product(a, a);
  const f32 square_low = math::fma(a, a, -square);  // the rounding error of the square
  const f32 e = p * t * math::exp(-0.5f * square);
  const f32 tail = math::fma(e, -0.5f * square_low, e);
  return x < 0 ? tail : 1 - tail;
}

// Computes x^y within 4 units in the last place, for normal x of magnitude below 2^126, |y| up to
// 2^14 and normal results. Returns false for anything else. For a negative x the result is |x|^y
// with a sign by y's parity, or NaN if y is not a whole number.
//
// log2 |x| = e + log2 m with m in [sqrt(1/2), sqrt 2). log2 m is the odd series in s = (m - 1) / (m
// + 1). The log is kept in two numbers, so that its product with y is precise enough for the
// exponential. For any other x the computed log has a magnitude of at least 126, which the last
// comparison rejects.
KILN_DEVICE bool usual_power(f32 x, f32 y, f32& result) {
  const u32 bits = bit_cast<u32>(math::abs(x));
  const u32 exponent = (bits - 0x3f3504f3u) & 0xff800000u;  // e * 2^23
  const f32 m = bit_cast<f32>(bits - exponent);
  const f32 f = m - 1.0f;
  const f32 r = reciprocal_approximate(m + 1.0f);
  const f32 s = f * r;
  const f32 s_low = r * math::fma(-s, f, math::fma(-2.0f, s, f));  // f - s (2 + f), exact before r
  const f32 z = s * s;
  const f32 k = 0x1.715476p+1f;  // 2 / ln 2; the polynomial's last coefficient has its next bits
  f32 p = 0x1.5c65bcp-2f;
  p = math::fma(p, z, 0x1.a5962cp-2f);
  p = math::fma(p, z, 0x1.277768p-1f);
  p = math::fma(p, z, 0x1.ec709ep-1f);
  p = math::fma(p, z, 0x1.4ae0cp-25f);
  const f32 high = math::rounded_product(s, k);
  f32 low = math::fma(s, k, -high);
  low = math::fma(s_low, k, low);
  low = math::fma(s, p, low);

  const f32 e = static_cast<f32>(static_cast<i32>(exponent));
  const f32 sum = math::fma(e, 0x1p-23f, high);
  const f32 rest = (math::fma(e, 0x1p-23f, -sum) + high) + low;
  const f32 log = sum + rest;
  const f32 log_low = (sum - log) + rest;
  const f32 product = math::rounded_product(y, log);
  const f32 product_low = math::fma(y, log_low, math::fma(y, log, -product));
  const f32 power = exp2_approximate(product);
  result = math::fma(power, product_low * 0x1.62e43p-1f, power);
  if (x < 0) {
    const f32 half = 0.5f * y;
    if (math::floor(half) != half) result = -result;
    if (math::floor(y) != y) result = bit_cast<f32>(0x7fc00000u);
  }

  // One comparison bounds both the log and the product, by a limit that depends on y alone.
  const f32 magnitude = math::abs(y);
  const f32 limit = magnitude <= 1.0f ? 126.0f * magnitude : magnitude <= 16384.0f ? 126.0f : 0.0f;
  return math::abs(product) < limit;
}

KILN_NOINLINE f32 unusual_power(f32 x, f32 y) { return math::pow(x, y); }

// Sines for types with few significant bits.
// Measured on an H200, own geometry, in us, the vendor's -> these: usin_f16 of 200,000 elements
// 2.41 -> 1.90; of 2^22 elements 8.4 -> 5.9.
//
// Returns (-1)^turns sin r, for |r| up to about pi / 2. An odd polynomial of degree 9, within
// 6.3e-9 of the sine.
KILN_DEVICE f32 turned_sine(f32 r, u32 turns) {
  const f32 z = r * r;
  f32 p = 0x1.5dc75p-19f;
  p = math::fma(p, z, -0x1.9f70e2p-13f);
  p = math::fma(p, z, 0x1.110edap-7f);
  p = math::fma(p, z, -0x1.55554cp-3f);
  return bit_cast<f32>(bit_cast<u32>(r * math::fma(p, z, 1.0f)) ^ turns << 31);
}

// x - n pi. pi is the sum of two positive parts, so that zeros keep their sign.
KILN_DEVICE f32 without_turns(f32 x, f32 n) {
  return math::fma(n, -0x1.4442d2p-23f, math::fma(n, -0x1.921fb4p+1f, x));
}

// Sine and cosine of any f16, and of bf16 up to 2^16, within 4.2 units in the last place. Narrowed
// to the storage type, the result equals the rounding of the exact value or of a value two units
// away. Numbers of so few bits are never close to multiples of pi. Adding `shift` rounds to a whole
// number, which the lowest bits of the sum then hold.
KILN_DEVICE f32 sine_of_short(f32 x) {
  const f32 shift = 0x1.8p23f;
  const f32 shifted = math::fma(x, 0x1.45f306p-2f, shift);
  return turned_sine(without_turns(x, shifted - shift), bit_cast<u32>(shifted));
}
KILN_DEVICE f32 cosine_of_short(f32 x) {
  const f32 shift = 0x1.8p23f;
  const f32 shifted = math::fma(x, 0x1.45f306p-2f, -0.5f) + shift;
  return turned_sine(without_turns(-x, -0.5f - (shifted - shift)), bit_cast<u32>(shifted));
}

// sin(x + quarters * pi / 2) for the larger numbers of bf16. With their eight significant bits,
// |x| = m * 2^(place + 1). Only the 64 bits of 1 / pi that follow bit 2^-place count, because the
// bits before them contribute multiples of 2 pi.
KILN_NOINLINE f32 sine_of_large(f32 x, u32 quarters) {
  const u32 bits = bit_cast<u32>(x);
  u32 place = (bits >> 23 & 0xff) - 135;
  u32 a = 0x517cc1b7, b = 0x27220a94, c = 0xfe13abe8, d = 0xfa9a6ee0, e = 0x6db14acc,
      f = 0x9e21c820;
#pragma unroll 1
  for (; place >= 32; place -= 32) {
    a = b;
    b = c;
    c = d;
    d = e;
    e = f;
  }
  const u64 head = static_cast<u64>(a) << 32 | b, next = c;
  const u64 turns =
      (head << place | next << place >> 32) * ((bits >> 16 & 0x7f) | 0x80);  // 2^63 is pi
  const u64 all = (bits >> 31 != 0 ? 0 - turns : turns) + (static_cast<u64>(quarters) << 62);
  const f32 r = static_cast<f32>(static_cast<i64>(all << 1)) * 0x1.921fb6p-63f;
  return turned_sine(r, static_cast<u32>(all >> 63 ^ all >> 62)) + (x - x);  // NaN for infinity
}

}  // namespace kiln::device
