// f32 functions of our own, where the vendors' cost more than memory leaves time for: the same on
// every vendor, few instructions, no divergence for usual arguments.
#pragma once

#include "device/dtypes.cuh"
#include "device/platform.cuh"

namespace kiln::device {

// a / b for b in [1, 2] and a normal quotient: within one unit in the last place, NaN kept.
KILN_DEVICE f32 quotient_by_one_to_two(f32 a, f32 b) {
  const f32 r = reciprocal_approximate(b);
  const f32 q = a * r;
  return math::fma(math::fma(-q, b, a), r, q);
}

// Standard normal distribution function, tails included: within 7 units in the last place.
//
// 2 cdf(-x) = erfc(x / sqrt 2) = exp(-x^2 / 2) * erfcx(x / sqrt 2); half of erfcx over t is a
// polynomial of degree 8 in t = 1 / (1 + x / sqrt 8) to 5.4e-8 (a fit for 0 <= x <= 14, where the
// tail leaves f32).
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
  const f32 square_low = math::fma(a, a, -square);  // what rounding took from the exponent
  const f32 e = p * t * math::exp(-0.5f * square);
  const f32 tail = math::fma(e, -0.5f * square_low, e);
  return x < 0 ? tail : 1 - tail;
}

// x^y within 4 units in the last place, for normal x of magnitude below 2^126, |y| up to 2^14 and
// normal results; for others, false. Of a negative x: by magnitude, with y's parity, or NaN where y
// is no whole number.
//
// log2 |x| = e + log2 m, m in [sqrt(1/2), sqrt 2), by the odd series in s = (m - 1) / (m + 1),
// carried in two numbers so that the product with y keeps what the exponential needs. Of all other
// x the log comes out as 126 or more, either way.
KILN_DEVICE bool usual_power(f32 x, f32 y, f32& result) {
  const u32 bits = bit_cast<u32>(math::abs(x));
  const u32 exponent = (bits - 0x3f3504f3u) & 0xff800000u;  // e * 2^23
  const f32 m = bit_cast<f32>(bits - exponent);
  const f32 f = m - 1.0f;
  const f32 r = reciprocal_approximate(m + 1.0f);
  const f32 s = f * r;
  const f32 s_low = r * math::fma(-s, f, math::fma(-2.0f, s, f));  // f - s (2 + f), exact before r
  const f32 z = s * s;
  const f32 k = 0x1.715476p+1f;  // 2 / ln 2; its next part is the polynomial's last number
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

  // One comparison that bounds both the log and the product, by a limit that all elements share.
  const f32 magnitude = math::abs(y);
  const f32 limit = magnitude <= 1.0f ? 126.0f * magnitude : magnitude <= 16384.0f ? 126.0f : 0.0f;
  return math::abs(product) < limit;
}

KILN_ASIDE f32 unusual_power(f32 x, f32 y) { return math::pow(x, y); }

// Sines of numbers of few bits. NVIDIA H200, own geometry, us with the vendor's and with these: usin_f16 of
// 200,000 elements 2.41, 1.90; of 2^22 8.4, 5.9.
//
// (-1)^turns sin r for r of at most about pi / 2: an odd polynomial of degree 9, to 6.3e-9 of the sine.
KILN_DEVICE f32 turned_sine(f32 r, u32 turns) {
  const f32 z = r * r;
  f32 p = 0x1.5dc75p-19f;
  p = math::fma(p, z, -0x1.9f70e2p-13f);
  p = math::fma(p, z, 0x1.110edap-7f);
  p = math::fma(p, z, -0x1.55554cp-3f);
  return bit_cast<f32>(bit_cast<u32>(r * math::fma(p, z, 1.0f)) ^ turns << 31);
}

// x - n pi. Two parts of pi, both positive, so that signs of zero stay.
KILN_DEVICE f32 without_turns(f32 x, f32 n) {
  return math::fma(n, -0x1.4442d2p-23f, math::fma(n, -0x1.921fb4p+1f, x));
}

// Sine and cosine of the numbers of f16, and of bf16 up to 2^16: within 4.2 units in the last place, and
// rounded as the exact ones or those two units away. So few bits keep all of them far from multiples of
// pi. A sum makes whole numbers, and holds them in its lowest bits.
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

// sin(x + quarters pi / 2) for the other numbers of bf16, which have eight bits: m 2^place. What counts of
// their product with 1 / pi are the 64 bits from 2^-place on.
KILN_ASIDE f32 sine_of_large(f32 x, u32 quarters) {
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
      (head << place | next << place >> 32) * ((bits >> 16 & 0x7f) | 0x80);  // 2^63: pi
  const u64 all = (bits >> 31 != 0 ? 0 - turns : turns) + (static_cast<u64>(quarters) << 62);
  const f32 r = static_cast<f32>(static_cast<i64>(all << 1)) * 0x1.921fb6p-63f;
  return turned_sine(r, static_cast<u32>(all >> 63 ^ all >> 62)) + (x - x);  // of infinity NaN
}

}  // namespace kiln::device
