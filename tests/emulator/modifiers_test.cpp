// The effects of DPP and SDWA, and the constants, which are the same for all instructions.
// (Modifiers that depend on the type are tested with each formula.)
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>

#include "emulator/fault.hpp"
#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/numbers.hpp"

using namespace kiln::emulator;
namespace formulas = kiln::formulas;

namespace {

u32 source_of(u32 lane) { return 0x01010101 * (lane + 1); }

// The lane that a lane sees; -1: none.
struct DppControl {
  std::string text;
  std::function<int(int lane, int width)> from;
  u32 width = 0;  // wave width in which it exists; 0: both
};
int in_row(int lane, int i) { return lane / 16 * 16 + i; }

const DppControl kDppControls[] = {
    {"quad_perm:[3,2,1,0]", [](int lane, int) { return lane / 4 * 4 + 3 - lane % 4; }},
    {"quad_perm:[1,1,3,0]",
     [](int lane, int) {
       constexpr int kSees[] = {1, 1, 3, 0};
       return lane / 4 * 4 + kSees[lane % 4];
     }},
    {"row_shl:3", [](int lane, int) { return lane % 16 + 3 < 16 ? lane + 3 : -1; }},
    {"row_shr:5", [](int lane, int) { return lane % 16 >= 5 ? lane - 5 : -1; }},
    {"row_ror:3", [](int lane, int) { return in_row(lane, (lane % 16 + 13) % 16); }},
    {"row_mirror", [](int lane, int) { return in_row(lane, 15 - lane % 16); }},
    {"row_half_mirror", [](int lane, int) { return lane / 8 * 8 + 7 - lane % 8; }},
    {"row_share:6", [](int lane, int) { return in_row(lane, 6); }, 32},
    {"row_xmask:5", [](int lane, int) { return in_row(lane, lane % 16 ^ 5); }, 32},
    {"row_newbcast:6", [](int lane, int) { return in_row(lane, 6); }, 64},
    {"wave_shl:1", [](int lane, int width) { return lane + 1 < width ? lane + 1 : -1; }, 64},
    {"wave_shr:1", [](int lane, int) { return lane - 1; }, 64},
    {"wave_rol:1", [](int lane, int width) { return (lane + 1) % width; }, 64},
    {"wave_ror:1", [](int lane, int width) { return (lane + width - 1) % width; }, 64},
    {"row_bcast:15", [](int lane, int) { return lane < 16 ? -1 : lane / 16 * 16 - 1; }, 64},
    {"row_bcast:31", [](int lane, int) { return lane < 32 ? -1 : 31; }, 64},
};

u32 take(u32 x, const std::string& part, bool sign_extend) {
  const int bits = part == "DWORD" ? 32 : part.starts_with("WORD") ? 16 : 8;
  const int index = part == "DWORD" ? 0 : part.back() - '0';
  const u64 shifted = u64{x} >> (index * bits);
  return static_cast<u32>(sign_extend ? formulas::sign_extended(shifted, bits)
                                      : static_cast<formulas::Wide>(formulas::low_bits(
                                            static_cast<formulas::Wide>(shifted), bits)));
}
const std::string kParts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};

}  // namespace

TEST_CASE("lanes that see others through DPP") {
  for (const u32 width : {32u, 64u}) {
    for (const DppControl& control : kDppControls) {
      if (control.width != 0 && control.width != width) continue;
      for (const u64 active : {~u64{0}, u64{0x5a3cf0ff0963ca50}}) {
        for (const bool bound_control : {false, true}) {
          for (const u32 masks : {0xffu, 0x5fu, 0xf6u}) {
            Bench bench(width);
            bench.set_scalar64(kExec, active);
            for (u32 lane = 0; lane < width; ++lane) {
              bench.vector(0, lane) = 7;
              bench.vector(1, lane) = source_of(lane);
              bench.vector(2, lane) = 1000 * lane;
            }
            const std::string text = "v_add_nc_u32_dpp v0, v1, v2 " + control.text +
                                     " row_mask:" + std::to_string(masks >> 4) +
                                     " bank_mask:" + std::to_string(masks & 15) +
                                     (bound_control ? " bound_ctrl:1" : "");
            INFO(text << ", active " << active);
            REQUIRE(bench.run(text));
            for (u32 lane = 0; lane < width; ++lane) {
              const int from = control.from(static_cast<int>(lane), static_cast<int>(width));
              const bool is_seen = from >= 0 && (active >> from & 1) != 0;
              const bool by_masks =
                  (masks >> (4 + lane / 16) & 1) != 0 && (masks >> (lane / 4 % 4) & 1) != 0;
              const bool is_written =
                  (active >> lane & 1) != 0 && by_masks && (is_seen || bound_control);
              const u32 seen = is_seen ? source_of(static_cast<u32>(from)) : 0;
              CAPTURE(lane);
              REQUIRE(bench.vector(0, lane) == (is_written ? seen + 1000 * lane : 7));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("lanes that see others of eight through DPP8") {
  Bench bench(32);
  for (u32 lane = 0; lane < 32; ++lane) bench.vector(1, lane) = source_of(lane);
  REQUIRE(bench.run("v_mov_b32_dpp v0, v1 dpp8:[7,0,1,2,6,4,5,3]"));
  constexpr u32 kSees[] = {7, 0, 1, 2, 6, 4, 5, 3};
  for (u32 lane = 0; lane < 32; ++lane)
    CHECK(bench.vector(0, lane) == source_of(lane / 8 * 8 + kSees[lane % 8]));
}

TEST_CASE("parts of registers by SDWA") {
  Bench bench(64);
  const auto first = [](u32 lane) { return 0x80c0a090 + lane * 0x01030507; };
  const auto second = [](u32 lane) { return 0x12f48634 + lane * 0x07050301; };
  for (const std::string& part_0 : kParts) {
    for (const std::string& part_1 : kParts) {
      for (const bool sign_extend : {false, true}) {
        for (u32 lane = 0; lane < 64; ++lane) {
          bench.vector(1, lane) = first(lane);
          bench.vector(2, lane) = second(lane);
        }
        const std::string source = sign_extend ? "sext(v1)" : "v1";
        const std::string text = "v_add_u32_sdwa v0, " + source +
                                 ", v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:" + part_0 +
                                 " src1_sel:" + part_1;
        INFO(text);
        REQUIRE(bench.run(text));
        for (u32 lane = 0; lane < 64; ++lane) {
          REQUIRE(bench.vector(0, lane) ==
                  take(first(lane), part_0, sign_extend) + take(second(lane), part_1, false));
        }
      }
    }
  }
  for (const std::string& part : kParts) {
    for (const std::string unused : {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"}) {
      for (u32 lane = 0; lane < 64; ++lane) {
        bench.vector(0, lane) = 0x13572468;
        bench.vector(1, lane) = first(lane);
        bench.vector(2, lane) = 0;
      }
      const std::string text = "v_or_b32_sdwa v0, v1, v2 dst_sel:" + part +
                               " dst_unused:" + unused + " src0_sel:DWORD src1_sel:DWORD";
      INFO(text);
      REQUIRE(bench.run(text));
      const int bits = part == "DWORD" ? 32 : part.starts_with("WORD") ? 16 : 8;
      const int shift = part == "DWORD" ? 0 : (part.back() - '0') * bits;
      for (u32 lane = 0; lane < 64; ++lane) {
        u32 expected = 0;
        for (int i = 0; i < 32; ++i) {
          bool bit = false;
          if (i >= shift && i < shift + bits) {
            bit = (first(lane) >> (i - shift) & 1) != 0;
          } else if (unused == "UNUSED_PRESERVE") {
            bit = (0x13572468 >> i & 1) != 0;
          } else if (unused == "UNUSED_SEXT" && i >= shift + bits) {
            bit = (first(lane) >> (bits - 1) & 1) != 0;
          }
          if (bit) expected |= 1u << i;
        }
        REQUIRE(bench.vector(0, lane) == expected);
      }
    }
  }
}

TEST_CASE("halves and comparisons by SDWA") {
  // 1.5 and -2.0 in one register, -0.5 and 4.0 in the other.
  constexpr u32 kFirst = 0xc0003e00;
  constexpr u32 kSecond = 0x4400b800;
  const auto prepare = [](Bench& bench) {
    for (u32 lane = 0; lane < 64; ++lane) {
      bench.vector(0, lane) = 0x13572468;
      bench.vector(1, lane) = kFirst;
      bench.vector(2, lane) = kSecond;
    }
  };
  struct Row {
    const char* text;
    u32 result;
  };
  const Row rows[] = {
      {"v_cvt_f32_f16_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0xc0000000},
      {"v_cvt_f32_f16_sdwa v0, -|v2| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0",
       0xbf000000},
      {"v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
       "src1_sel:WORD_1",
       0x40002468},
      {"v_mul_f16_sdwa v0, -v1, |v2| dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 "
       "src1_sel:WORD_0",
       0x1357ba00},
      {"v_max_f16_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
       "src1_sel:WORD_1",
       0x4400},
      {"v_cvt_f32_i32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3",
       0xc2800000},
      {"v_mul_i32_i24_sdwa v0, sext(v1), sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:WORD_1 src1_sel:BYTE_1",
       0x00120000},
  };
  for (const Row& row : rows) {
    Bench bench(64);
    prepare(bench);
    INFO(row.text);
    REQUIRE(bench.run(row.text));
    for (u32 lane = 0; lane < 64; ++lane) REQUIRE(bench.vector(0, lane) == row.result);
  }
  const struct {
    const char* text;
    bool holds;
  } comparisons[] = {
      {"v_cmp_gt_f16_sdwa vcc, v1, v2 src0_sel:WORD_0 src1_sel:WORD_0", true},
      {"v_cmp_gt_f16_sdwa vcc, v1, v2 src0_sel:WORD_1 src1_sel:WORD_0", false},
      {"v_cmp_lt_f16_sdwa vcc, -v1, v2 src0_sel:WORD_1 src1_sel:WORD_1", true},
      {"v_cmp_eq_f16_sdwa vcc, |v1|, v2 src0_sel:WORD_1 src1_sel:WORD_1", false},
      {"v_cmp_gt_i32_sdwa vcc, sext(v1), v2 src0_sel:WORD_1 src1_sel:BYTE_1", false},
      {"v_cmp_gt_i32_sdwa vcc, v1, v2 src0_sel:WORD_1 src1_sel:BYTE_1", true},
  };
  for (const auto& row : comparisons) {
    Bench bench(64);
    prepare(bench);
    bench.set_scalar64(kVcc, 0x5555);
    INFO(row.text);
    REQUIRE(bench.run(row.text));
    REQUIRE(bench.scalar64(kVcc) == (row.holds ? ~u64{0} : 0));
  }
}

TEST_CASE("two instructions at once read before either writes") {
  struct Row {
    const char* text;
    u32 v0, v1;
  };
  // Initially, v0 is 1.0, v1 is 2.0 and v2 is 3.0.
  const Row rows[] = {
      {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0", 0x40000000, 0x3f800000},
      {"v_dual_add_f32 v0, v1, v2 :: v_dual_mul_f32 v1, v0, v2", 0x40a00000, 0x40400000},
      {"v_dual_mul_f32 v1, v1, v2 :: v_dual_sub_f32 v0, v1, v2", 0xbf800000, 0x40c00000},
      {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_max_f32 v1, v0, v2", 0x40e00000, 0x40400000},
      {"v_dual_add_f32 v0, v2, v2 :: v_dual_fmac_f32 v1, v0, v2", 0x40c00000, 0x40a00000},
      {"v_dual_fmaak_f32 v0, v1, v2, 0x3f800000 :: v_dual_fmamk_f32 v1, v0, 0x40000000, v2",
       0x40e00000, 0x40a00000},
      {"v_dual_cndmask_b32 v0, v1, v2 :: v_dual_lshlrev_b32 v1, 1, v0", 0x40400000, 0x7f000000},
  };
  for (const Row& row : rows) {
    Bench bench(32);
    for (u32 lane = 0; lane < 32; ++lane) {
      bench.vector(0, lane) = 0x3f800000;
      bench.vector(1, lane) = 0x40000000;
      bench.vector(2, lane) = 0x40400000;
    }
    bench.scalar(kVcc) = ~0u;
    INFO(row.text);
    const auto parsed = parse_instruction(row.text, {}, 63);
    REQUIRE(parsed);
    for (const ParsedInstruction& half : *parsed) {
      const Handler handler = Bench::operations().find(half.name, 32);
      REQUIRE(handler != nullptr);
      handler(bench.wave(), half.instruction);
    }
    for (u32 lane = 0; lane < 32; ++lane) {
      REQUIRE(bench.vector(0, lane) == row.v0);
      REQUIRE(bench.vector(1, lane) == row.v1);
    }
  }
}

TEST_CASE("constants are of the type that the instruction works on") {
  struct Row {
    const char* text;
    u64 result;
  };
  const Row rows[] = {
      {"v_add_nc_u32_e64 v0, -16, 64", 48},
      {"v_or_b32_e64 v0, 0x12345678, 1.0", 0x12345678 | 0x3f800000},
      {"v_mov_b32_e32 v0, s4", 0xcafe},
      {"v_mov_b32_e32 v0, -4.0", 0xc0800000},
      {"v_mov_b32_e32 v0, 0.15915494", 0x3e22f983},
      {"v_mul_f32_e64 v0, 0.5, -2.0", 0xbf800000},
      {"v_add_f32_e64 v0, 1.0, -s5", 0xc0000000},
      {"v_add_f16_e64 v0, 1.0, 2.0", 0x4200},
      {"v_add_f16_e64 v0, 0x3c00, 0.5", 0x3e00},
      {"v_add_nc_u16 v0, -1, 3", 2},
      {"v_pk_add_u16 v0, 7, s4 op_sel_hi:[0,1]", 0x7cb05},
      {"v_pk_add_f16 v0, 1.0, s6 op_sel_hi:[0,1]", 0x42004000},
      {"v_add_f64 v[0:1], 1.0, 2.0", 0x4008000000000000},
      {"v_add_f64 v[0:1], 0x40000000, 1.0", 0x4008000000000000},
      {"v_mul_f64 v[0:1], s[8:9], -1.0", 0xc01c000000000000},
      {"v_lshlrev_b64 v[0:1], 4, -1", 0xfffffffffffffff0},
      {"v_lshrrev_b64 v[0:1], 4, s[8:9]", 0x0401c00000000000},
  };
  for (const u32 width : {32u, 64u}) {
    for (const Row& row : rows) {
      Bench bench(width);
      bench.scalar(4) = 0xcafe;
      bench.scalar(5) = 0x40400000;               // 3.0
      bench.scalar(6) = 0x40003c00;               // halves 1.0 and 2.0
      bench.set_scalar64(8, 0x401c000000000000);  // 7.0
      INFO(row.text);
      REQUIRE(bench.run(row.text));
      for (u32 lane = 0; lane < width; ++lane) REQUIRE(bench.vector64(0, lane) == row.result);
    }
  }
}

TEST_CASE("scalar constants have the width of their operand") {
  struct Row {
    const char* text;
    u64 result;
  };
  const Row rows[] = {
      {"s_mov_b64 s[0:1], -1", ~u64{0}},
      {"s_mov_b64 s[0:1], 64", 64},
      {"s_mov_b64 s[0:1], 1.0", 0x3ff0000000000000},
      {"s_mov_b64 s[0:1], 0x80000000", 0x80000000},
      {"s_mov_b32 s0, -16", 0xfffffff0},
      {"s_mov_b32 s0, -0.5", 0xbf000000},
      {"s_mov_b32 s0, 0x87654321", 0x87654321},
      {"s_lshl_b64 s[0:1], 1, 40", u64{1} << 40},
      {"s_and_b64 s[0:1], s[8:9], 0xf0000000", 0xf0000000},
      {"s_or_b64 s[0:1], s[8:9], -16", 0xfffffffffffffff0 | 0xf1234567},
      {"s_cselect_b32 s0, 0x1234, -1", 0x1234},
      {"s_mul_i32 s0, s8, 3", low_half(3 * u64{0xf1234567})},
      {"s_mov_b32 s0, src_scc", 1},
      {"s_mov_b64 s[0:1], vcc", 0x99},
      {"s_mov_b64 s[0:1], exec", ~u64{0}},
  };
  for (const u32 width : {32u, 64u}) {
    for (const Row& row : rows) {
      Bench bench(width);
      bench.set_scalar64(8, 0x76543210f1234567);
      bench.set_scalar64(kVcc, 0x99);
      bench.wave().scc = 1;
      INFO(row.text);
      REQUIRE(bench.run(row.text));
      REQUIRE(bench.scalar64(0) == row.result);
    }
  }
}

TEST_CASE("inactive lanes and null are left alone") {
  Bench bench(32);
  bench.scalar(kExec) = 1u << 7;
  REQUIRE(bench.run("v_mov_b32_e32 v0, 42"));
  CHECK(bench.vector(0, 7) == 42);
  CHECK(bench.vector(0, 8) == 0);
  REQUIRE(bench.run("s_mov_b32 null, 5"));
  REQUIRE(bench.run("s_mov_b32 s0, null"));
  CHECK(bench.scalar(0) == 0);
}

TEST_CASE("an access beyond LDS is a fault") {
  Bench bench(32);
  bench.vector(1, 9) = 65534;
  CHECK_THROWS_AS(bench.run("ds_load_b32 v10, v1"), Fault);
}
