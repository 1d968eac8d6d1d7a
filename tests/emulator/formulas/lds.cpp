// Loads, stores and atomic updates of LDS.
#include "tests/emulator/formulas/spaces.hpp"
#include "tests/emulator/formulas/transfers.hpp"
#include "tests/emulator/formulas/updates.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

constexpr u64 kActive[] = {~u64{0}, 0x5a3c0ff0963ca50f};

// Tests two elements at once, whose offsets are in elements, or in units of 64 elements.
Formula two_elements(const std::string& name, bool is_load, u32 bytes, u32 stride) {
  return {
      name, [=] {
        const u32 words = bytes / 4;
        const u32 first_offset = stride == 1 ? 5 : 1;
        const u32 second_offset = stride == 1 ? 9 : 2;
        for (const u32 width : {32u, 64u}) {
          for (const u64 active : kActive) {
            Bench bench(width);
            u8* const buffer = bench.allocate(Image::kGlobalBytes);
            fill_memory(bench, buffer);
            bench.set_scalar64(emulator::kExec, active);
            Image expected(bench, buffer);
            const auto at = [&](u32 lane, u32 element) {
              return lane * 16 + (element == 0 ? first_offset : second_offset) * bytes * stride;
            };
            for (u32 lane = 0; lane < width; ++lane) {
              bench.vector(0, lane) = lane * 16;
              for (u32 i = 0; i < 8; ++i)
                bench.vector(10 + i, lane) = 0x9e3779b9 * (lane * 8 + i + 1);
            }
            const std::string offsets = " offset0:" + std::to_string(first_offset) +
                                        " offset1:" + std::to_string(second_offset);
            const std::string text =
                is_load
                    ? name + " " + registers(10, 2 * words) + ", v0" + offsets
                    : name + " v0, " + registers(10, words) + ", " + registers(14, words) + offsets;
            std::vector<u32> before;
            for (u32 lane = 0; lane < width; ++lane) {
              for (u32 i = 0; i < 8; ++i) before.push_back(bench.vector(10 + i, lane));
            }
            const bool known = bench.run(text);
            for (u32 lane = 0; lane < width; ++lane) {
              const bool is_active = (active >> lane & 1) != 0;
              for (u32 i = 0; i < 8; ++i) {
                const u32 old = before[lane * 8 + i];
                u64 wanted = old;
                const u32 element = is_load ? i / words : i / 4;
                const u32 word = is_load ? i % words : i % 4;
                const bool used = element < 2 && word < words;
                if (is_active && used && is_load) {
                  wanted = expected.read(Space::kLds, lane, at(lane, element) + 4 * word, 4);
                }
                if (is_active && used && !is_load) {
                  expected.write(Space::kLds, lane, at(lane, element) + 4 * word, 4, old);
                }
                if (!hold_equal(known ? bench.vector(10 + i, lane) : ~wanted, wanted,
                                [&] { return text; }))
                  return;
              }
            }
            if (!hold_equal(Image(bench, buffer) == expected, true, [&] { return text + ": LDS"; }))
              return;
          }
        }
      }};
}

// The operand of a compare-and-swap that memory is compared with.
enum class Compared : u8 { kNothing, kFirst, kSecond };

Formula atomic(const std::string& name, const Update& update, bool returns, Compared compared) {
  return {
      name, [=] {
        const u32 bytes = static_cast<u32>(update.kind.bits) / 8;
        const u32 words = bytes / 4;
        const auto tuples = tuples_of({update.kind, update.kind});
        for (const u32 width : {32u, 64u}) {
          Bench bench(width);
          const u64 active = returns ? 0xffff00ff5af0c3f5 : ~u64{0};
          bench.set_scalar64(emulator::kExec, active);
          std::string text = name + " " + (returns ? registers(20, words) + ", " : "") + "v0, " +
                             registers(10, words);
          if (compared != Compared::kNothing) text += ", " + registers(12, words);
          text += " offset:24";
          const auto prepared = bench.prepare(text);
          for (std::size_t first = 0; first < tuples.size(); first += width) {
            // Two lanes share each address; the first one determines its content.
            std::vector<u64> memory(width / 2);
            const auto of = [&](u32 lane) -> const std::vector<u64>& {
              return tuples[(first + lane) % tuples.size()];
            };
            for (u32 lane = 0; lane < width; ++lane) {
              const u32 address = 64 + lane / 2 * 16;
              bench.vector(0, lane) = address - 24;
              if (lane % 2 == 0) {
                memory[lane / 2] = of(lane)[0];
                for (u32 i = 0; i < bytes; ++i)
                  bench.lds()[address + i] = static_cast<u8>(of(lane)[0] >> (8 * i));
              }
              const u64 there = of(lane / 2 * 2)[0] + (lane % 3 == 0);
              bench.set64(10, lane, compared == Compared::kFirst ? there : of(lane)[1]);
              bench.set64(12, lane, compared == Compared::kFirst ? of(lane)[1] : there);
              bench.set64(20, lane, 4444);
            }
            if (prepared) prepared->run(bench.wave());
            for (u32 lane = 0; lane < width; ++lane) {
              const bool is_active = (active >> lane & 1) != 0;
              const u64 old = memory[lane / 2];
              u64 updated = update.of(old, of(lane)[1]);
              if (compared != Compared::kNothing) {
                const u64 there = low_bits(static_cast<Wide>(of(lane / 2 * 2)[0] + (lane % 3 == 0)),
                                           update.kind.bits);
                updated = old == there ? of(lane)[1] : old;
              }
              if (is_active) memory[lane / 2] = updated;
              const u64 got = words == 2 ? bench.vector64(20, lane) : bench.vector(20, lane);
              const u64 returned = returns && is_active ? old : 4444;
              const auto what = [&] {
                return text + ", lane " + std::to_string(lane) + " of " + hex(old) + " " +
                       hex(of(lane)[1]);
              };
              const bool same = prepared && is_same_update(update, got, returned);
              if (!hold_equal(same ? returned : got, returned, what)) return;
              if (lane % 2 == 0) continue;
              u64 result = 0;
              for (u32 i = bytes; i > 0; --i)
                result = result << 8 | bench.lds()[64 + lane / 2 * 16 + i - 1];
              const u64 wanted = memory[lane / 2];
              const bool right = prepared && is_same_update(update, result, wanted);
              if (!hold_equal(right ? wanted : result, wanted, [&] { return what() + ": in LDS"; }))
                return;
            }
          }
        }
      }};
}

}  // namespace

Formulas lds_formulas() {
  Formulas rows = {
      load("ds", "ds_load_u8", 1),
      load("ds", "ds_load_i8", 1, Extend::kSign),
      load("ds", "ds_load_u16", 2),
      load("ds", "ds_load_i16", 2, Extend::kSign),
      load("ds", "ds_load_b32", 4),
      load("ds", "ds_load_b64", 8),
      load("ds", "ds_load_b96", 12),
      load("ds", "ds_load_b128", 16),
      load("ds", "ds_load_u8_d16", 1, Extend::kZero, Into::kLowHalf),
      load("ds", "ds_load_i8_d16", 1, Extend::kSign, Into::kLowHalf),
      load("ds", "ds_load_u16_d16", 2, Extend::kZero, Into::kLowHalf),
      load("ds", "ds_load_u8_d16_hi", 1, Extend::kZero, Into::kHighHalf),
      load("ds", "ds_load_i8_d16_hi", 1, Extend::kSign, Into::kHighHalf),
      load("ds", "ds_load_u16_d16_hi", 2, Extend::kZero, Into::kHighHalf),
      store("ds", "ds_store_b8", 1),
      store("ds", "ds_store_b16", 2),
      store("ds", "ds_store_b32", 4),
      store("ds", "ds_store_b64", 8),
      store("ds", "ds_store_b96", 12),
      store("ds", "ds_store_b128", 16),
      store("ds", "ds_store_b8_d16_hi", 1, true),
      store("ds", "ds_store_b16_d16_hi", 2, true),
  };
  for (const u32 bytes : {4u, 8u}) {
    const std::string bits = std::to_string(8 * bytes);
    for (const bool is_load : {true, false}) {
      const std::string name = is_load ? "ds_load_2addr_" : "ds_store_2addr_";
      rows.push_back(two_elements(name + "b" + bits, is_load, bytes, 1));
      rows.push_back(two_elements(name + "stride64_b" + bits, is_load, bytes, 64));
    }
  }
  for (const bool returns : {false, true}) {
    const std::string infix = returns ? "_rtn_" : "_";
    for (const Update& update : updates()) {
      if (update.type == "bf16") continue;
      if (update.name != "swap") {
        rows.push_back(
            atomic("ds_" + update.name + infix + update.type, update, returns, Compared::kNothing));
        continue;
      }
      // Up to gfx10, an exchange is called wrxchg, and a compare-and-swap is cmpst, which takes the
      // value to compare with first.
      for (const char* name : {"wrxchg", "storexchg"})
        rows.push_back(atomic("ds_" + std::string(name) + infix + update.type, update, returns,
                              Compared::kNothing));
      rows.push_back(atomic("ds_cmpst" + infix + update.type, update, returns, Compared::kFirst));
      rows.push_back(
          atomic("ds_cmpstore" + infix + update.type, update, returns, Compared::kSecond));
    }
  }
  return rows;
}

}  // namespace kiln::formulas
