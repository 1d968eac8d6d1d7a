// Instructions, one at a time, against formulas of their own: written from the ISA documents in
// wide arithmetic, sharing no code with emulator/operations.
//
// Each row is the text of an instruction whose sources are v1, v2 and v3 (s1, s2, s3), and what
// lane by lane becomes of v0 (s0). It runs over all combinations of edge values, in both wave
// widths.
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/emulator/bench.hpp"

using namespace kiln::emulator;

namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

const std::vector<u32> kEdges32 = {
    0,          1,          2,          31,         32,         0x7f,       0x80,       0xff,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x7fffffff,
    0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef, 0x3f800000, 0xbf800000,
    0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x00800000, 0x7f7fffff, 0x4b000000, 0x3f000000};

struct Row {
  std::string text;  // without operands
  std::function<u32(u32, u32, u32)> expected;
  int sources = 2;
};

i64 s32(u32 x) { return static_cast<i32>(x); }
i64 s24(u32 x) {
  return (x & 0x800000) != 0 ? static_cast<i64>(x & 0xffffff) - 0x1000000 : x & 0xffffff;
}
float f32(u32 x) { return std::bit_cast<float>(x); }
u32 bits(float x) { return std::bit_cast<u32>(x); }
u32 low(Wide x) { return static_cast<u32>(static_cast<UnsignedWide>(x) & 0xffffffff); }
u32 high(Wide x) { return low(x >> 32); }

bool same_float(u32 a, u32 b) { return a == b || (std::isnan(f32(a)) && std::isnan(f32(b))); }

void hold(const std::vector<Row>& rows, bool is_float) {
  for (const u32 width : {32u, 64u}) {
    for (const Row& row : rows) {
      Bench bench(width);
      std::string text = row.text + " v0";
      for (int i = 1; i <= row.sources; ++i) text += ", v" + std::to_string(i);
      const std::size_t count = kEdges32.size();
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t shift = 0; shift < count; shift += width) {
          for (u32 lane = 0; lane < width; ++lane) {
            bench.vector(1, lane) = kEdges32[a];
            bench.vector(2, lane) = kEdges32[(lane + shift) % count];
            bench.vector(3, lane) = kEdges32[(7 * lane + a) % count];
          }
          INFO(text << ", waves of " << width);
          REQUIRE(bench.run(text));
          for (u32 lane = 0; lane < width; ++lane) {
            const u32 x = kEdges32[a];
            const u32 y = kEdges32[(lane + shift) % count];
            const u32 z = kEdges32[(7 * lane + a) % count];
            const u32 expected = row.expected(x, y, z);
            const u32 got = bench.vector(0, lane);
            const bool right = is_float ? same_float(got, expected) : got == expected;
            if (right) continue;
            CAPTURE(x, y, z, got, expected);
            FAIL("wrong result");
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("vector integer instructions") {
  hold({{"v_mov_b32_e32", [](u32 a, u32, u32) { return a; }, 1},
        {"v_not_b32_e32", [](u32 a, u32, u32) { return 0xffffffff - a; }, 1},
        {"v_bfrev_b32_e32",
         [](u32 a, u32, u32) {
           u32 r = 0;
           for (int i = 0; i < 32; ++i) r = r * 2 + (a >> i) % 2;
           return r;
         },
         1},
        {"v_ffbh_u32_e32",
         [](u32 a, u32, u32) {
           u32 n = 0;
           for (u32 bit = 1u << 31; bit != 0 && (a & bit) == 0; bit >>= 1) ++n;
           return a == 0 ? ~0u : n;
         },
         1},
        {"v_ffbl_b32_e32",
         [](u32 a, u32, u32) {
           u32 n = 0;
           while (n < 32 && (a >> n & 1) == 0) ++n;
           return a == 0 ? ~0u : n;
         },
         1},
        {"v_and_b32_e32", [](u32 a, u32 b, u32) { return a + b - (a | b); }},
        {"v_or_b32_e32", [](u32 a, u32 b, u32) { return a + b - (a & b); }},
        {"v_xor_b32_e32", [](u32 a, u32 b, u32) { return a + b - 2 * (a & b); }},
        {"v_xnor_b32_e64", [](u32 a, u32 b, u32) { return ~(a + b - 2 * (a & b)); }},
        {"v_add_nc_u32_e32", [](u32 a, u32 b, u32) { return low(Wide{a} + b); }},
        {"v_add_u32_e32", [](u32 a, u32 b, u32) { return low(Wide{a} + b); }},
        {"v_sub_nc_u32_e32", [](u32 a, u32 b, u32) { return low(Wide{a} - b); }},
        {"v_subrev_u32_e32", [](u32 a, u32 b, u32) { return low(Wide{b} - a); }},
        {"v_mul_lo_u32", [](u32 a, u32 b, u32) { return low(Wide{a} * b); }},
        {"v_mul_hi_u32", [](u32 a, u32 b, u32) { return high(Wide{a} * b); }},
        {"v_mul_hi_i32", [](u32 a, u32 b, u32) { return high(Wide{s32(a)} * s32(b)); }},
        {"v_mul_u32_u24_e32",
         [](u32 a, u32 b, u32) { return low(Wide{a % 0x1000000} * (b % 0x1000000)); }},
        {"v_mul_hi_u32_u24_e32",
         [](u32 a, u32 b, u32) { return high(Wide{a % 0x1000000} * (b % 0x1000000)); }},
        {"v_mul_i32_i24_e32", [](u32 a, u32 b, u32) { return low(Wide{s24(a)} * s24(b)); }},
        {"v_mul_hi_i32_i24_e32", [](u32 a, u32 b, u32) { return high(Wide{s24(a)} * s24(b)); }},
        {"v_mad_u32_u24",
         [](u32 a, u32 b, u32 c) { return low(Wide{a % 0x1000000} * (b % 0x1000000) + c); }, 3},
        {"v_mad_i32_i24", [](u32 a, u32 b, u32 c) { return low(Wide{s24(a)} * s24(b) + s32(c)); },
         3},
        {"v_lshlrev_b32_e32",
         [](u32 a, u32 b, u32) { return low(Wide{b} * (Wide{1} << (a % 32))); }},
        {"v_lshrrev_b32_e32",
         [](u32 a, u32 b, u32) { return static_cast<u32>(b / (u64{1} << (a % 32))); }},
        {"v_ashrrev_i32_e32", [](u32 a, u32 b, u32) { return low(Wide{s32(b)} >> (a % 32)); }},
        {"v_min_u32_e32", [](u32 a, u32 b, u32) { return std::min(a, b); }},
        {"v_max_u32_e32", [](u32 a, u32 b, u32) { return std::max(a, b); }},
        {"v_min_i32_e32", [](u32 a, u32 b, u32) { return low(std::min(s32(a), s32(b))); }},
        {"v_max_i32_e32", [](u32 a, u32 b, u32) { return low(std::max(s32(a), s32(b))); }},
        {"v_min3_i32",
         [](u32 a, u32 b, u32 c) {
           return low(std::min({s32(a), s32(b), s32(c)}));
         },
         3},
        {"v_max3_u32",
         [](u32 a, u32 b, u32 c) {
           return std::max({a, b, c});
         },
         3},
        {"v_med3_u32",
         [](u32 a, u32 b, u32 c) {
           u32 x[] = {a, b, c};
           std::sort(x, x + 3);
           return x[1];
         },
         3},
        {"v_med3_i32",
         [](u32 a, u32 b, u32 c) {
           i64 x[] = {s32(a), s32(b), s32(c)};
           std::sort(x, x + 3);
           return low(x[1]);
         },
         3},
        {"v_add3_u32", [](u32 a, u32 b, u32 c) { return low(Wide{a} + b + c); }, 3},
        {"v_xor3_b32", [](u32 a, u32 b, u32 c) { return (a ^ b) ^ c; }, 3},
        {"v_or3_b32", [](u32 a, u32 b, u32 c) { return ~(~a & ~b & ~c); }, 3},
        {"v_and_or_b32", [](u32 a, u32 b, u32 c) { return ~(~(a & b) & ~c); }, 3},
        {"v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return low((Wide{a} << (b % 32)) + c); }, 3},
        {"v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return low((Wide{a} + b) << (c % 32)); }, 3},
        {"v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return low(Wide{a} << (b % 32)) | c; }, 3},
        {"v_bfe_u32",
         [](u32 a, u32 b, u32 c) {
           return static_cast<u32>((u64{a} >> (b % 32)) % (u64{1} << (c % 32)));
         },
         3},
        {"v_bfe_i32",
         [](u32 a, u32 b, u32 c) {
           const u32 n = c % 32;
           const i64 shifted = s32(a) >> (b % 32);  // the field may reach beyond the sign
           const i64 field = shifted & ((i64{1} << n) - 1);
           return n == 0 ? 0 : low(field >= (i64{1} << (n - 1)) ? field - (i64{1} << n) : field);
         },
         3},
        {"v_bfi_b32",
         [](u32 a, u32 b, u32 c) {
           u32 r = 0;
           for (int i = 0; i < 32; ++i) r |= ((a >> i & 1) != 0 ? b : c) & 1u << i;
           return r;
         },
         3},
        {"v_alignbit_b32",
         [](u32 a, u32 b, u32 c) { return low(((Wide{a} << 32) + b) >> (c % 32)); }, 3},
        {"v_alignbyte_b32",
         [](u32 a, u32 b, u32 c) { return low(((Wide{a} << 32) + b) >> (8 * (c % 4))); }, 3},
        {"v_bcnt_u32_b32",
         [](u32 a, u32 b, u32) {
           u32 n = 0;
           for (; a != 0; a &= a - 1) ++n;
           return n + b;
         }},
        {"v_sad_u32",
         [](u32 a, u32 b, u32 c) { return low(Wide{std::max(a, b)} - std::min(a, b) + c); }, 3},
        {"v_cvt_f32_ubyte1_e32",
         [](u32 a, u32, u32) { return bits(static_cast<float>(a / 256 % 256)); }, 1}},
       false);
}

TEST_CASE("vector float instructions") {
  using LongDouble = long double;  // holds the exact product or sum of two floats, for one rounding
  hold(
      {{"v_add_f32_e32",
        [](u32 a, u32 b, u32) { return bits(static_cast<float>(LongDouble{f32(a)} + f32(b))); }},
       {"v_sub_f32_e32",
        [](u32 a, u32 b, u32) { return bits(static_cast<float>(LongDouble{f32(a)} - f32(b))); }},
       {"v_subrev_f32_e32",
        [](u32 a, u32 b, u32) { return bits(static_cast<float>(LongDouble{f32(b)} - f32(a))); }},
       {"v_mul_f32_e32",
        [](u32 a, u32 b, u32) { return bits(static_cast<float>(LongDouble{f32(a)} * f32(b))); }},
       {"v_rcp_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(1 / LongDouble{f32(a)})); }, 1},
       {"v_sqrt_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(std::sqrt(LongDouble{f32(a)}))); }, 1},
       {"v_floor_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(std::floor(LongDouble{f32(a)}))); },
        1},
       {"v_ceil_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(std::ceil(LongDouble{f32(a)}))); }, 1},
       {"v_trunc_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(std::trunc(LongDouble{f32(a)}))); },
        1},
       {"v_rndne_f32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(std::rint(LongDouble{f32(a)}))); }, 1},
       {"v_cvt_f32_i32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(LongDouble(s32(a)))); }, 1},
       {"v_cvt_f32_u32_e32",
        [](u32 a, u32, u32) { return bits(static_cast<float>(LongDouble(a))); }, 1},
       {"v_cndmask_b32_e32", [](u32 a, u32, u32) { return a; }, 2}},  // VCC is 0
      true);
  // The greater and the lesser, a number before a NaN; -0 before +0.
  const auto greater = [](u32 a, u32 b, u32) {
    if (std::isnan(f32(a))) return b;
    if (std::isnan(f32(b))) return a;
    if (f32(a) == f32(b)) return a & b;
    return f32(a) > f32(b) ? a : b;
  };
  const auto lesser = [](u32 a, u32 b, u32) {
    if (std::isnan(f32(a))) return b;
    if (std::isnan(f32(b))) return a;
    if (f32(a) == f32(b)) return a | b;
    return f32(a) < f32(b) ? a : b;
  };
  hold({{"v_max_f32_e32", greater}, {"v_min_f32_e32", lesser}}, true);
}

TEST_CASE("modifiers of sources and results") {
  Bench bench(32);
  for (u32 lane = 0; lane < 32; ++lane) {
    bench.vector(1, lane) = bits(-2.5F);
    bench.vector(2, lane) = bits(static_cast<float>(lane));
  }
  REQUIRE(bench.run("v_add_f32_e64 v0, |v1|, -v2"));
  CHECK(f32(bench.vector(0, 3)) == 2.5F - 3.0F);
  REQUIRE(bench.run("v_add_f32_e64 v0, |v1|, v2 mul:2"));
  CHECK(f32(bench.vector(0, 3)) == 11.0F);
  REQUIRE(bench.run("v_add_f32_e64 v0, v1, v2 clamp"));
  CHECK(f32(bench.vector(0, 1)) == 0.0F);
  CHECK(f32(bench.vector(0, 3)) == 0.5F);
  CHECK(f32(bench.vector(0, 9)) == 1.0F);
  REQUIRE(bench.run("v_mov_b32_dpp v0, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"));
  CHECK(f32(bench.vector(0, 5)) == 4.0F);
  CHECK(bench.vector(0, 16) == 0);
  REQUIRE(bench.run("v_mov_b32_dpp v0, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf"));
  CHECK(f32(bench.vector(0, 4)) == 7.0F);
  bench.wave().scalar[kExec] = 1u << 7;
  REQUIRE(bench.run("v_mov_b32_e32 v0, 42"));
  CHECK(bench.vector(0, 7) == 42);
  CHECK(f32(bench.vector(0, 4)) == 7.0F);
}

TEST_CASE("comparisons set one bit a lane, for each type and relation") {
  struct Relation {
    const char* name;
    bool (*holds)(int sign);  // of a - b
  };
  const Relation relations[] = {
      {"lt", [](int s) { return s < 0; }},  {"eq", [](int s) { return s == 0; }},
      {"le", [](int s) { return s <= 0; }}, {"gt", [](int s) { return s > 0; }},
      {"ne", [](int s) { return s != 0; }}, {"ge", [](int s) { return s >= 0; }}};
  for (const Relation& relation : relations) {
    for (const bool is_signed : {false, true}) {
      Bench bench(64);
      for (const u32 a : kEdges32) {
        for (u32 lane = 0; lane < 64; ++lane) {
          bench.vector(1, lane) = a;
          bench.vector(2, lane) = kEdges32[lane % kEdges32.size()];
        }
        REQUIRE(bench.run(std::string("v_cmp_") + relation.name + (is_signed ? "_i32" : "_u32") +
                          "_e64 s[4:5], v1, v2"));
        u64 expected = 0;
        for (u32 lane = 0; lane < 64; ++lane) {
          const u32 b = kEdges32[lane % kEdges32.size()];
          const Wide difference = is_signed ? Wide{s32(a)} - s32(b) : Wide{a} - b;
          const int sign = difference < 0 ? -1 : difference > 0 ? 1 : 0;
          expected |= u64{relation.holds(sign)} << lane;
        }
        INFO(relation.name << (is_signed ? " signed " : " unsigned ") << a);
        REQUIRE(combine(bench.scalar(4), bench.scalar(5)) == expected);
      }
    }
  }
}

TEST_CASE("scalar instructions") {
  struct ScalarRow {
    const char* text;
    u32 (*expected)(u32, u32);
    int scc;  // 2: the result is not zero; 3: a carry out of the sum; 4: a borrow; 5: unchanged
  };
  const ScalarRow rows[] = {
      {"s_add_u32 s0, s1, s2", [](u32 a, u32 b) { return low(Wide{a} + b); }, 3},
      {"s_sub_u32 s0, s1, s2", [](u32 a, u32 b) { return low(Wide{a} - b); }, 4},
      {"s_mul_i32 s0, s1, s2", [](u32 a, u32 b) { return low(Wide{a} * b); }, 5},
      {"s_mul_hi_u32 s0, s1, s2", [](u32 a, u32 b) { return high(Wide{a} * b); }, 5},
      {"s_mul_hi_i32 s0, s1, s2", [](u32 a, u32 b) { return high(Wide{s32(a)} * s32(b)); }, 5},
      {"s_and_b32 s0, s1, s2", [](u32 a, u32 b) { return a + b - (a | b); }, 2},
      {"s_or_b32 s0, s1, s2", [](u32 a, u32 b) { return a + b - (a & b); }, 2},
      {"s_andn2_b32 s0, s1, s2", [](u32 a, u32 b) { return a - (a & b); }, 2},
      {"s_and_not1_b32 s0, s1, s2", [](u32 a, u32 b) { return a - (a & b); }, 2},
      {"s_lshl_b32 s0, s1, s2", [](u32 a, u32 b) { return low(Wide{a} << (b % 32)); }, 2},
      {"s_lshr_b32 s0, s1, s2",
       [](u32 a, u32 b) { return static_cast<u32>(a / (u64{1} << (b % 32))); }, 2},
      {"s_ashr_i32 s0, s1, s2", [](u32 a, u32 b) { return low(Wide{s32(a)} >> (b % 32)); }, 2},
      {"s_pack_ll_b32_b16 s0, s1, s2", [](u32 a, u32 b) { return a % 65536 + b % 65536 * 65536; },
       5},
      {"s_bcnt1_i32_b32 s0, s1",
       [](u32 a, u32) {
         u32 n = 0;
         for (; a != 0; a &= a - 1) ++n;
         return n;
       },
       2},
      {"s_sext_i32_i8 s0, s1",
       [](u32 a, u32) { return low(Wide{a % 256 >= 128 ? i64{a % 256} - 256 : a % 256}); }, 5},
  };
  Bench bench(32);
  for (const ScalarRow& row : rows) {
    for (const u32 a : kEdges32) {
      for (const u32 b : kEdges32) {
        bench.scalar(1) = a;
        bench.scalar(2) = b;
        bench.wave().scc = 1;
        INFO(row.text << " of " << a << ", " << b);
        REQUIRE(bench.run(row.text));
        const u32 expected = row.expected(a, b);
        REQUIRE(bench.scalar(0) == expected);
        const bool scc[] = {false, false, expected != 0, Wide{a} + b > 0xffffffff, b > a, true};
        REQUIRE((bench.wave().scc != 0) == scc[row.scc]);
      }
    }
  }
}

TEST_CASE("every row has a handler for both widths") {
  for (const auto& [name, row] : Bench::operations().rows()) {
    INFO(name);
    CHECK(row.run32 != nullptr);
    CHECK(row.run64 != nullptr);
  }
  CHECK(Bench::operations().rows().size() > 1000);
}
