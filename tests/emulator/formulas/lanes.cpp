// Instructions that access other lanes, select between values, or index registers.
#include <array>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

constexpr u64 kActive[] = {~u64{0}, 0x5a3cf0ff0963ca50, 0x8000000080000000};
constexpr u64 kMask = 0xa53c9669f00ff0c3;

bool has(u64 mask, u32 lane) { return (mask >> lane & 1) != 0; }
u32 value_of(u32 reg, u32 lane) { return 0x9e3779b9 * (reg * 64 + lane + 1); }
std::string mask_register(u32 width) { return width == 32 ? "s6" : "s[6:7]"; }

// Registers v0 to v15 hold different values; v0 is the destination.
struct Case {
  explicit Case(u32 width, u64 exec)
      : bench(width), active(width == 32 ? exec & 0xffffffff : exec) {
    for (u32 reg = 0; reg < 16; ++reg) {
      for (u32 lane = 0; lane < width; ++lane) bench.vector(reg, lane) = value_of(reg, lane);
    }
    bench.set_scalar64(emulator::kExec, exec);
    bench.set_scalar64(6, kMask);
    bench.set_scalar64(emulator::kVcc, ~kMask);
  }
  // Checks that v0 is `expected` in active lanes and unchanged in others. Returns false if it is
  // not.
  template <typename Function>
  bool hold(const std::string& text, Function expected, std::array<u32, 2> words = {}) {
    const bool known = bench.run(text, words);
    for (u32 lane = 0; lane < bench.width(); ++lane) {
      const u64 wanted = has(active, lane) ? u64{expected(lane)} : value_of(0, lane);
      const auto what = [&] {
        return text + ", lane " + std::to_string(lane) + " of " + std::to_string(bench.width());
      };
      if (!hold_equal(known ? bench.vector(0, lane) : ~wanted, wanted, what)) return false;
    }
    return true;
  }

  Bench bench;
  u64 active;
};
// Runs in both wave widths, with all and with some lanes active. `hold` returns whether to
// continue.
Formula in_all_cases(std::string name, std::function<bool(Case&, u32 width)> hold) {
  return {std::move(name), [hold] {
            for (const u32 width : {32u, 64u}) {
              for (const u64 active : kActive) {
                Case c(width, active);
                if (!hold(c, width)) return;
              }
            }
          }};
}

// v_cndmask: the second source if the bit of the mask is set, otherwise the first.
bool hold_select(Case& c, u32 width) {
  const auto chosen = [](u64 mask, u32 lane) {
    return has(mask, lane) ? value_of(2, lane) : value_of(1, lane);
  };
  if (!c.hold("v_cndmask_b32_e32 v0, v1, v2" + std::string(width == 32 ? ", vcc_lo" : ", vcc"),
              [&](u32 lane) { return chosen(~kMask, lane); }))
    return false;
  Case by_register(width, c.active);
  if (!by_register.hold("v_cndmask_b32_e64 v0, v1, v2, " + mask_register(width),
                        [&](u32 lane) { return chosen(kMask, lane); }))
    return false;
  Case modified(width, c.active);
  if (!modified.hold("v_cndmask_b32_e64 v0, -v1, |v2|, " + mask_register(width), [&](u32 lane) {
        return has(kMask, lane) ? value_of(2, lane) & 0x7fffffff : value_of(1, lane) ^ 0x80000000;
      }))
    return false;
  Case constants(width, c.active);
  return constants.hold("v_cndmask_b32_e64 v0, 0, 1.0, " + mask_register(width),
                        [&](u32 lane) { return has(kMask, lane) ? 0x3f800000u : 0u; });
}
bool hold_select_16(Case& c, u32 width) {
  return c.hold("v_cndmask_b16 v0, v1, v2, " + mask_register(width), [](u32 lane) {
    const u32 chosen = has(kMask, lane) ? value_of(2, lane) : value_of(1, lane);
    return value_of(0, lane) / 65536 * 65536 + chosen % 65536;
  });
}

// v_mbcnt: the number of bits in the half of a mask that belong to lower lanes.
Formula count_of_lower_lanes(const std::string& name, u32 first) {
  return in_all_cases(name, [=](Case& c, u32) {
    return c.hold(name + " v0, v1, v2", [=](u32 lane) {
      u32 count = value_of(2, lane);
      for (u32 i = 0; i < 32 && first + i < lane; ++i) count += value_of(1, lane) >> i & 1;
      return count;
    });
  });
}

Formula read_first_lane() {
  return {"v_readfirstlane_b32", [] {
            for (const u32 width : {32u, 64u}) {
              for (const u64 active : {~u64{0}, u64{1} << 5, u64{3} << 30, u64{0}, u64{1} << 40}) {
                Case c(width, active);
                u32 first = 0;  // the result if no lane is active
                while (c.active != 0 && !has(c.active, first)) ++first;
                const bool known = c.bench.run("v_readfirstlane_b32 s4, v1");
                hold_equal(known ? c.bench.scalar(4) : 0, value_of(1, first),
                           [] { return "v_readfirstlane_b32"; });
              }
            }
          }};
}
// v_readlane and v_writelane: the lane number is taken modulo the wave width, and EXEC is ignored.
Formula read_lane() {
  return in_all_cases("v_readlane_b32", [](Case& c, u32 width) {
    for (const u32 lane : {0u, 7u, 31u, 33u, 63u, 64u, 100u}) {
      c.bench.scalar(5) = lane;
      const bool known = c.bench.run("v_readlane_b32 s4, v1, s5");
      if (!hold_equal(known ? c.bench.scalar(4) : 0, value_of(1, lane % width),
                      [] { return "v_readlane_b32"; }))
        return false;
    }
    const bool known = c.bench.run("v_readlane_b32 s4, v1, 9");
    return hold_equal(known ? c.bench.scalar(4) : 0, value_of(1, 9),
                      [] { return "v_readlane_b32"; });
  });
}
Formula write_lane() {
  return in_all_cases("v_writelane_b32", [](Case& c, u32 width) {
    c.bench.scalar(4) = 4711;
    for (const u32 lane : {0u, 7u, 31u, 33u, 63u, 100u}) {
      Case fresh(width, c.active);
      fresh.bench.scalar(4) = 4711;
      fresh.bench.scalar(5) = lane;
      const bool known = fresh.bench.run("v_writelane_b32 v0, s4, s5");
      for (u32 i = 0; i < width; ++i) {
        const u32 expected = i == lane % width ? 4711 : value_of(0, i);
        if (!hold_equal(known ? fresh.bench.vector(0, i) : ~expected, expected,
                        [] { return "v_writelane_b32"; }))
          return false;
      }
    }
    return true;
  });
}

// v_permlane16 and v_permlanex16: for each of the 16 lanes of a row, four bits select the lane that
// it sees, in its own row or in the neighbouring row. op_sel is FI and BOUND_CTRL here.
Formula permute_in_rows(const std::string& name, u32 other_row) {
  return in_all_cases(name, [=](Case& c, u32 width) {
    const u64 selectors = 0x0fedcba98765432f;
    for (const u32 form : {0u, 1u, 2u, 3u}) {
      Case fresh(width, c.active);
      fresh.bench.set_scalar64(8, selectors);
      const char* const modifiers[] = {"", " op_sel:[1,0]", " op_sel:[0,1]", " op_sel:[1,1]"};
      const bool held = fresh.hold(name + " v0, v1, s8, s9" + modifiers[form], [&](u32 lane) {
        const u32 from =
            ((lane / 16) ^ other_row) * 16 + static_cast<u32>(selectors >> (4 * (lane % 16)) & 15);
        const bool seen = form % 2 != 0 || has(fresh.active, from);
        return seen ? value_of(1, from) : form / 2 != 0 ? 0u : value_of(0, lane);
      });
      if (!held) return false;
    }
    return true;
  });
}

Formula swap_halves() {
  return in_all_cases("v_permlane64_b32", [](Case& c, u32 width) {
    // It has no effect in waves of 32 lanes.
    return c.hold("v_permlane64_b32 v0, v1", [=](u32 lane) {
      return width == 32 ? value_of(0, lane) : value_of(1, (lane + 32) % 64);
    });
  });
}

// Byte addresses that select lanes, some beyond the wave, some lanes twice.
u32 lane_address(u32 lane) { return 4 * ((lane * 7 + lane / 8) % 80) + lane % 4; }

Formula gather() {
  return in_all_cases("ds_bpermute_b32", [](Case& c, u32 width) {
    for (u32 lane = 0; lane < width; ++lane) c.bench.vector(1, lane) = lane_address(lane);
    return c.hold("ds_bpermute_b32 v0, v1, v2 offset:12", [&](u32 lane) {
      const u32 from = (lane_address(lane) + 12) / 4 % width;
      return has(c.active, from) ? value_of(2, from) : 0;
    });
  });
}
Formula scatter() {
  return in_all_cases("ds_permute_b32", [](Case& c, u32 width) {
    std::vector<u32> received(width);
    for (u32 lane = 0; lane < width; ++lane) {
      c.bench.vector(1, lane) = lane_address(lane);
      // If several lanes send to the same lane, the last one wins.
      if (has(c.active, lane)) received[(lane_address(lane) + 12) / 4 % width] = value_of(2, lane);
    }
    return c.hold("ds_permute_b32 v0, v1, v2 offset:12", [&](u32 lane) { return received[lane]; });
  });
}
Formula swizzle() {
  return in_all_cases("ds_swizzle_b32", [](Case& c, u32 width) {
    for (const u32 pattern : {0x041fu, 0x001fu, 0x7c00u, 0x5463u, 0x03e0u, 0x801bu, 0x80e4u,
                              0x8055u, 0xc020u, 0xc4a0u, 0xc1e3u, 0xdfffu}) {
      Case fresh(width, c.active);
      const bool held = fresh.hold(
          "ds_swizzle_b32 v0, v1 offset:" + std::to_string(pattern),
          [&](u32 lane) {
            const u32 half = lane / 32 * 32;
            const u32 i = lane % 32;
            u32 from = 0;
            if (pattern >= 0xc000) {  // rotation of the bits that are not kept
              const u32 kept = pattern & 31;
              const u32 amount = pattern >> 5 & 31;
              const u32 rotated = (pattern >> 10 & 1) != 0 ? i + 32 - amount : i + amount;
              from = half + ((i & kept) | (rotated & 31 & ~kept));
            } else if (pattern >= 0x8000) {  // within groups of four
              from = lane / 4 * 4 + (pattern >> (2 * (lane % 4)) & 3);
            } else {  // and, or, xor
              from = half + (((i & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
            }
            return has(fresh.active, from) ? value_of(1, from) : 0;
          },
          {pattern, 0});
      if (!held) return false;
    }
    return true;
  });
}

Formula moves_by_index(const std::string& name, bool source_is_indexed) {
  return in_all_cases(name, [=](Case& c, u32 width) {
    c.bench.scalar(emulator::kM0) = 6;
    if (source_is_indexed)
      return c.hold(name + " v0, v3", [](u32 lane) { return value_of(9, lane); });
    const bool known = c.bench.run(name + " v3, v1");
    for (u32 lane = 0; lane < width; ++lane) {
      const u32 expected = has(c.active, lane) ? value_of(1, lane) : value_of(9, lane);
      if (!hold_equal(known ? c.bench.vector(9, lane) : ~expected, expected, [&] { return name; }))
        return false;
      if (!hold_equal(c.bench.vector(3, lane), value_of(3, lane), [&] { return name; }))
        return false;
    }
    return true;
  });
}

}  // namespace

Formulas lane_formulas() {
  return {
      in_all_cases("v_cndmask_b32", hold_select),
      in_all_cases("v_cndmask_b16", hold_select_16),
      count_of_lower_lanes("v_mbcnt_lo_u32_b32", 0),
      count_of_lower_lanes("v_mbcnt_hi_u32_b32", 32),
      read_first_lane(),
      read_lane(),
      write_lane(),
      permute_in_rows("v_permlane16_b32", 0),
      permute_in_rows("v_permlanex16_b32", 1),
      swap_halves(),
      gather(),
      scatter(),
      swizzle(),
      moves_by_index("v_movrels_b32", true),
      moves_by_index("v_movreld_b32", false),
  };
}

}  // namespace kiln::formulas
