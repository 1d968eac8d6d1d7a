// Loads and stores of global memory and scratch, and scalar loads.
#include <cstring>
#include <functional>
#include <utility>

#include "tests/emulator/formulas/spaces.hpp"
#include "tests/emulator/formulas/transfers.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

// s_load: dwords at the address of a base plus offsets, with the lowest two bits cleared.
Formula scalar_load(const std::string& name, u32 count) {
  return {name, [=] {
            const struct {
              const char* operands;
              u32 address;
            } forms[] = {{"0x10", 16},  {"-0x8", 192}, {"s40", 36}, {"s40 offset:0x20", 68},
                         {"null", 200}, {"s41", 44}};
            for (const u32 width : {32u, 64u}) {
              for (const auto& form : forms) {
                Bench bench(width);
                u8* const buffer = bench.allocate(Image::kGlobalBytes);
                fill_memory(bench, buffer);
                const u64 base = form.address >= 192 ? 200 : 0;
                bench.set_scalar64(4, reinterpret_cast<u64>(buffer) + base);
                bench.scalar(40) = 36;
                bench.scalar(41) = 46;
                for (u32 i = 0; i <= 16; ++i) bench.scalar(16 + i) = 9000 + i;
                bench.set_scalar64(emulator::kExec, 0);  // which scalar loads ignore
                const std::string destination =
                    count == 1 ? "s16" : "s[16:" + std::to_string(15 + count) + "]";
                const std::string text = name + " " + destination + ", s[4:5], " + form.operands;
                const bool known = bench.run(text);
                for (u32 i = 0; i <= 16; ++i) {
                  u32 expected = 9000 + i;
                  if (i < count) std::memcpy(&expected, buffer + form.address + 4 * i, 4);
                  if (!hold_equal(known ? bench.scalar(16 + i) : ~expected, expected,
                                  [&] { return text; }))
                    return;
                }
              }
            }
          }};
}

// Tests a buffer instruction beyond the size in its descriptor: loads give 0, stores do nothing.
void hold_range_check(const char* load_name, const char* store_name) {
  Bench bench(32);
  u8* const buffer = bench.allocate(Image::kGlobalBytes);
  fill_memory(bench, buffer);
  const Image before(bench, buffer);
  bench.set_scalar64(8, reinterpret_cast<u64>(buffer));
  bench.scalar(10) = 256;
  bench.scalar(11) = 0;
  for (u32 lane = 0; lane < 32; ++lane) {
    bench.vector(0, lane) = 1000 + 16 * lane;
    bench.vector(10, lane) = 77;
  }
  const bool stored = bench.run(std::string(store_name) + " v10, v0, s[8:11], 0 offen");
  hold_equal(stored && Image(bench, buffer) == before, true, [&] { return store_name; });
  const bool loaded = bench.run(std::string(load_name) + " v10, v0, s[8:11], 0 offen");
  for (u32 lane = 0; lane < 32; ++lane)
    hold_equal(loaded ? bench.vector(10, lane) : 1, 0, [&] { return load_name; });
}

// Tests addresses without a vector operand. They are the same for all lanes, but in scratch they
// name another place for each lane. Stores, and loads the stored value.
void hold_uniform(const std::string& form, const std::string& operands, Space space, u32 address) {
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    u8* const buffer = bench.allocate(Image::kGlobalBytes);
    fill_memory(bench, buffer);
    bench.set_scalar64(8, reinterpret_cast<u64>(buffer));
    bench.scalar(10) = 4096;
    bench.scalar(11) = 0;
    bench.scalar(4) = 40;
    Image expected(bench, buffer);
    for (u32 lane = 0; lane < width; ++lane) {
      bench.set64(12, lane, 0x123456789abcdef * (lane + 1));
      expected.write(space, lane, address, 8, 0x123456789abcdef * u64{lane + 1});
    }
    const bool is_buffer = form == "buffer";
    const std::string store =
        form + "_store_b64 " + (is_buffer ? "v[12:13], off" : "off, v[12:13]");
    const std::string load = form + "_load_b64 v[14:15], off";
    const bool stored = bench.run(store + operands);
    hold_equal(stored && Image(bench, buffer) == expected, true, [&] { return store + operands; });
    const bool loaded = bench.run(load + operands);
    for (u32 lane = 0; lane < width; ++lane) {
      const u64 value = expected.read(space, lane, address, 8);
      hold_equal(loaded ? bench.vector64(14, lane) : ~value, value,
                 [&] { return load + operands; });
    }
  }
}

// Runs `formula`, and then `more`.
Formula with(Formula formula, std::function<void()> more) {
  return {formula.name, [hold = std::move(formula.hold), more = std::move(more)] {
            hold();
            more();
          }};
}

}  // namespace

Formulas memory_formulas() {
  Formulas rows = {
      scalar_load("s_load_b32", 1),  scalar_load("s_load_b64", 2),  scalar_load("s_load_b96", 3),
      scalar_load("s_load_b128", 4), scalar_load("s_load_b256", 8), scalar_load("s_load_b512", 16),
  };
  for (const std::string prefix : {"global", "flat", "scratch", "buffer"}) {
    const auto add_load = [&](const char* type, u32 bytes, Extend extend = Extend::kZero,
                              Into into = Into::kWhole) {
      rows.push_back(load(prefix, prefix + "_load_" + type, bytes, extend, into));
    };
    const auto add_store = [&](const char* type, u32 bytes, bool upper_half = false) {
      rows.push_back(store(prefix, prefix + "_store_" + type, bytes, upper_half));
    };
    add_load("u8", 1);
    add_load("i8", 1, Extend::kSign);
    add_load("u16", 2);
    add_load("i16", 2, Extend::kSign);
    add_load("b32", 4);
    add_load("b64", 8);
    add_load("b96", 12);
    add_load("b128", 16);
    add_load("d16_u8", 1, Extend::kZero, Into::kLowHalf);
    add_load("d16_i8", 1, Extend::kSign, Into::kLowHalf);
    add_load("d16_b16", 2, Extend::kZero, Into::kLowHalf);
    add_load("d16_hi_u8", 1, Extend::kZero, Into::kHighHalf);
    add_load("d16_hi_i8", 1, Extend::kSign, Into::kHighHalf);
    add_load("d16_hi_b16", 2, Extend::kZero, Into::kHighHalf);
    add_store("b8", 1);
    add_store("b16", 2);
    add_store("b32", 4);
    add_store("b64", 8);
    add_store("b96", 12);
    add_store("b128", 16);
    add_store("d16_hi_b8", 1, true);
    add_store("d16_hi_b16", 2, true);
  }
  for (Formula& formula : rows) {
    if (formula.name == "buffer_load_b32")
      formula = with(formula, [] { hold_range_check("buffer_load_b32", "buffer_store_b32"); });
    if (formula.name == "buffer_load_b64")
      formula = with(
          formula, [] { hold_uniform("buffer", ", s[8:11], s4 offset:60", Space::kGlobal, 100); });
    if (formula.name == "scratch_load_b64") {
      formula = with(formula, [] {
        hold_uniform("scratch", ", s4 offset:60", Space::kScratch, 100);
        hold_uniform("scratch", ", off offset:60", Space::kScratch, 60);
      });
    }
  }
  return rows;
}

}  // namespace kiln::formulas
