// Instructions on 64 and 16 bits, on several values in a register, on LDS and on other lanes,
// against formulas of their own.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/fault.hpp"
#include "tests/emulator/bench.hpp"

using namespace kiln::emulator;

namespace {

__extension__ using Wide = __int128;

const std::vector<u64> kEdges64 = {0,
                                   1,
                                   2,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x3ff0000000000000,
                                   0xbff8000000000000,
                                   0x7ff0000000000000,
                                   0x0010000000000000,
                                   0x000fffffffffffff,
                                   0x7fefffffffffffff};

double f64(u64 bits) { return std::bit_cast<double>(bits); }
u64 bits(double x) { return std::bit_cast<u64>(x); }
bool same(u64 a, u64 b) { return a == b || (std::isnan(f64(a)) && std::isnan(f64(b))); }

// The value of a half, by its definition.
double half_value(u32 half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(half >> 10 & 31);
  const int fraction = static_cast<int>(half & 1023);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign * (exponent == 0 ? fraction * 0x1p-24 : std::ldexp(1024 + fraction, exponent - 25));
}
// The half that is nearest to `x`, an even one in the middle; found by looking at all of one sign.
u32 nearest_half(double x) {
  const u32 sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (magnitude >= 65520) return sign | 0x7c00;
  u32 low = 0;
  u32 high = 0x7bff;
  while (low < high) {  // the greatest that is not above
    const u32 middle = (low + high + 1) / 2;
    if (half_value(middle) <= magnitude) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double below = magnitude - half_value(low);
  const double above = (low == 0x7bff ? 65536 : half_value(low + 1)) - magnitude;
  return sign | (above < below || (above == below && low % 2 != 0) ? low + 1 : low);
}

}  // namespace

TEST_CASE("64-bit instructions") {
  struct Row {
    const char* text;
    u64 (*expected)(u64, u64);
  };
  const Row rows[] = {
      {"v_add_f64 v[0:1], v[2:3], v[4:5]", [](u64 a, u64 b) { return bits(f64(a) + f64(b)); }},
      {"v_mul_f64 v[0:1], v[2:3], v[4:5]", [](u64 a, u64 b) { return bits(f64(a) * f64(b)); }},
      {"v_lshlrev_b64 v[0:1], v2, v[4:5]",
       [](u64 a, u64 b) { return static_cast<u64>(Wide{static_cast<i64>(b)} << (a % 64)); }},
      {"v_lshrrev_b64 v[0:1], v2, v[4:5]",
       [](u64 a, u64 b) { return static_cast<u64>(Wide{b} >> (a % 64)); }},
      {"v_ashrrev_i64 v[0:1], v2, v[4:5]",
       [](u64 a, u64 b) { return static_cast<u64>(Wide{static_cast<i64>(b)} >> (a % 64)); }},
      {"v_cvt_f64_i32_e32 v[0:1], v2",
       [](u64 a, u64) { return bits(static_cast<double>(static_cast<i32>(a))); }},
      {"v_cvt_f64_u32_e32 v[0:1], v2",
       [](u64 a, u64) { return bits(static_cast<double>(static_cast<u32>(a))); }},
      {"v_floor_f64_e32 v[0:1], v[2:3]", [](u64 a, u64) { return bits(std::floor(f64(a))); }},
      {"v_sqrt_f64_e32 v[0:1], v[2:3]", [](u64 a, u64) { return bits(std::sqrt(f64(a))); }},
      {"v_mad_u64_u32 v[0:1], s[8:9], v2, v3, v[4:5]",
       [](u64 a, u64 b) { return (a & 0xffffffff) * (a >> 32) + b; }},
      {"v_mad_i64_i32 v[0:1], s[8:9], v2, v3, v[4:5]",
       [](u64 a, u64 b) {
         return static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(a >> 32)) + b;
       }},
  };
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (const Row& row : rows) {
      for (const u64 a : kEdges64) {
        for (u32 lane = 0; lane < width; ++lane) {
          bench.set64(2, lane, a);
          bench.set64(4, lane, kEdges64[lane % kEdges64.size()]);
        }
        INFO(row.text << " of " << a);
        REQUIRE(bench.run(row.text));
        for (u32 lane = 0; lane < width; ++lane) {
          REQUIRE(same(bench.vector64(0, lane), row.expected(a, kEdges64[lane % kEdges64.size()])));
        }
      }
    }
  }
}

TEST_CASE("carries go from the low half of a sum to the high one") {
  Bench bench(32);
  for (const u64 a : kEdges64) {
    for (u32 lane = 0; lane < 32; ++lane) {
      bench.set64(2, lane, a);
      bench.set64(4, lane, kEdges64[lane % kEdges64.size()]);
    }
    REQUIRE(bench.run("v_add_co_u32 v0, vcc_lo, v2, v4"));
    REQUIRE(bench.run("v_add_co_ci_u32_e64 v1, vcc_lo, v3, v5, vcc_lo"));
    for (u32 lane = 0; lane < 32; ++lane)
      REQUIRE(bench.vector64(0, lane) == a + kEdges64[lane % kEdges64.size()]);
    REQUIRE(bench.run("v_sub_co_u32 v0, vcc_lo, v2, v4"));
    REQUIRE(bench.run("v_sub_co_ci_u32_e64 v1, vcc_lo, v3, v5, vcc_lo"));
    for (u32 lane = 0; lane < 32; ++lane)
      REQUIRE(bench.vector64(0, lane) == a - kEdges64[lane % kEdges64.size()]);
  }
}

TEST_CASE("every half: conversion, sum and product") {
  Bench bench(64);
  const u32 partners[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001,
                          0x83ff, 0x7bff, 0x3555, 0x7c00, 0x7e00};
  for (const u32 partner : partners) {
    for (u32 first = 0; first < 0x10000; first += 64) {
      for (u32 lane = 0; lane < 64; ++lane) {
        bench.vector(1, lane) = first + lane;
        bench.vector(2, lane) = partner;
      }
      REQUIRE(bench.run("v_add_f16_e32 v4, v1, v2"));
      REQUIRE(bench.run("v_mul_f16_e32 v5, v1, v2"));
      REQUIRE(bench.run("v_cvt_f32_f16_e32 v6, v1"));
      for (u32 lane = 0; lane < 64; ++lane) {
        const double x = half_value(first + lane);
        const double y = half_value(partner);
        CAPTURE(first + lane, partner);
        const double results[] = {x + y, x * y};
        for (u32 i = 0; i < 2; ++i) {
          const u32 got = bench.vector(4 + i, lane);
          const bool right = std::isnan(results[i]) ? std::isnan(half_value(got))
                                                    : got == nearest_half(results[i]);
          if (!right) FAIL("wrong " << (i == 0 ? "sum " : "product ") << got);
        }
        const float wide = std::bit_cast<float>(bench.vector(6, lane));
        if (!(std::isnan(x) ? std::isnan(wide) : double{wide} == x)) FAIL("wrong conversion");
      }
    }
  }
}

TEST_CASE("floats to halves round to the nearest even") {
  Bench bench(32);
  u32 pattern = 0;
  for (int round = 0; round < 5000; ++round) {
    for (u32 lane = 0; lane < 32; ++lane) {
      pattern = pattern * 1664525 + 1013904223;
      // Exponents around those of halves.
      bench.vector(1, lane) = (pattern & 0x807fffff) | (100 + (pattern >> 8) % 50) << 23;
    }
    REQUIRE(bench.run("v_cvt_f16_f32_e32 v0, v1"));
    for (u32 lane = 0; lane < 32; ++lane) {
      const double x = std::bit_cast<float>(bench.vector(1, lane));
      if ((bench.vector(0, lane) & 0xffff) != nearest_half(x)) FAIL(x);
    }
  }
}

TEST_CASE("two or more values in a register") {
  Bench bench(32);
  for (u32 lane = 0; lane < 32; ++lane) {
    bench.vector(1, lane) = 0x8001ffff * (lane + 1);
    bench.vector(2, lane) = 0x7fff0003 + lane;
    bench.vector(3, lane) = lane;
  }
  REQUIRE(bench.run("v_pk_add_u16 v4, v1, v2"));
  REQUIRE(bench.run("v_pk_mul_lo_u16 v5, v1, v2"));
  REQUIRE(bench.run("v_pk_max_i16 v6, v1, v2"));
  REQUIRE(bench.run("v_pk_add_u16 v7, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]"));
  REQUIRE(bench.run("v_dot4_i32_iu8 v8, v1, v2, v3 neg_lo:[1,1,0]"));
  REQUIRE(bench.run("v_perm_b32 v9, v1, v2, 0x01070c0d"));
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 a = bench.vector(1, lane);
    const u32 b = bench.vector(2, lane);
    const auto low = [](u32 x) { return x % 65536; };
    const auto high = [](u32 x) { return x / 65536; };
    const auto pair = [](u32 x, u32 y) { return x % 65536 + y % 65536 * 65536; };
    CHECK(bench.vector(4, lane) == pair(low(a) + low(b), high(a) + high(b)));
    CHECK(bench.vector(5, lane) == pair(low(a) * low(b), high(a) * high(b)));
    const auto greater = [](u32 x, u32 y) { return (x ^ 0x8000) > (y ^ 0x8000) ? x : y; };
    CHECK(bench.vector(6, lane) == pair(greater(low(a), low(b)), greater(high(a), high(b))));
    CHECK(bench.vector(7, lane) == pair(high(a) + low(b), low(a) + high(b)));
    i64 dot = lane;
    for (int i = 0; i < 32; i += 8) {
      const auto byte = [&](u32 x) {
        const i64 u = x >> i & 255;
        return u < 128 ? u : u - 256;
      };
      dot += byte(a) * byte(b);
    }
    CHECK(bench.vector(8, lane) == static_cast<u32>(dot));
    CHECK(bench.vector(9, lane) == ((b >> 8 & 255) << 24 | (a >> 24) << 16 | 0x00ff));
  }
}

TEST_CASE("lanes see one another") {
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (u32 lane = 0; lane < width; ++lane) {
      bench.vector(1, lane) = 1000 + lane;
      bench.vector(2, lane) = (lane ^ 5) * 4;
      bench.vector(3, lane) = ~0u;
      bench.vector(4, lane) = 0;
    }
    REQUIRE(bench.run("ds_bpermute_b32 v10, v2, v1"));
    REQUIRE(bench.run("v_mbcnt_lo_u32_b32 v11, v3, v4"));
    REQUIRE(bench.run("v_mbcnt_hi_u32_b32 v11, v3, v11"));
    REQUIRE(bench.run("v_readlane_b32 s4, v1, 7"));
    REQUIRE(bench.run("v_readfirstlane_b32 s5, v1"));
    REQUIRE(bench.run("ds_swizzle_b32 v12, v1 offset:swizzle(SWAP,1)", {0x041f, 0}));
    REQUIRE(bench.run("v_mov_b32_dpp v13, v1 row_ror:3 row_mask:0xf bank_mask:0xf"));
    for (u32 lane = 0; lane < width; ++lane) {
      CHECK(bench.vector(10, lane) == 1000 + (lane ^ 5));
      CHECK(bench.vector(11, lane) == lane);
      CHECK(bench.vector(12, lane) == 1000 + (lane ^ 1));
      CHECK(bench.vector(13, lane) == 1000 + lane / 16 * 16 + (lane + 13) % 16);
    }
    CHECK(bench.scalar(4) == 1007);
    CHECK(bench.scalar(5) == 1000);
    REQUIRE(bench.run("v_writelane_b32 v1, s4, 3"));
    CHECK(bench.vector(1, 3) == 1007);
  }
}

TEST_CASE("LDS keeps what is stored, and atomics change it") {
  Bench bench(32);
  for (u32 lane = 0; lane < 32; ++lane) {
    bench.vector(1, lane) = lane * 8;
    bench.vector(2, lane) = 0x11223344 + lane;
    bench.vector(3, lane) = 0xaabbccdd - lane;
    bench.vector(4, lane) = 512;  // one address for all
    bench.vector(5, lane) = 1;
  }
  REQUIRE(bench.run("ds_store_b64 v1, v[2:3]"));
  REQUIRE(bench.run("ds_load_b32 v10, v1 offset:4"));
  REQUIRE(bench.run("ds_read_u8 v11, v1 offset:1"));
  REQUIRE(bench.run("ds_load_i8 v12, v1 offset:7"));
  REQUIRE(bench.run("ds_read2_b32 v[14:15], v1 offset1:1"));
  REQUIRE(bench.run("ds_add_u32 v4, v5"));
  REQUIRE(bench.run("ds_add_rtn_u32 v16, v4, v5"));
  for (u32 lane = 0; lane < 32; ++lane) {
    CHECK(bench.vector(10, lane) == 0xaabbccdd - lane);
    CHECK(bench.vector(11, lane) == 0x33);
    CHECK(bench.vector(12, lane) == 0xffffffaa);
    CHECK(bench.vector(14, lane) == 0x11223344 + lane);
    CHECK(bench.vector(15, lane) == 0xaabbccdd - lane);
    CHECK(bench.vector(16, lane) == 32 + lane);  // after the first 32, lane by lane
  }
  bench.vector(1, 9) = 1022;
  CHECK_THROWS_AS(bench.run("ds_load_b32 v10, v1"), Fault);
}
