// Atomic updates of global memory, with and without the old value.
#include "tests/emulator/formulas/spaces.hpp"
#include "tests/emulator/formulas/updates.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

constexpr u32 kData = 10;
constexpr u32 kOld = 20;

// Two lanes share each address, so the later lane reads the result of the earlier one.
u32 address_of(u32 lane) { return 64 + lane / 2 * 16; }

// `compared`: the data are the new value, followed by the value that memory must hold.
Formula atomic(const std::string& prefix, const Update& update, bool compared) {
  const std::string name = prefix + "_atomic_" + update.name + "_" + update.type;
  return {name, [=] {
            const u32 bytes = static_cast<u32>(update.kind.bits) / 8;
            const u32 words = bytes / 4;
            const auto tuples = tuples_of({update.kind, update.kind});
            const bool is_buffer = prefix == "buffer";
            for (const u32 width : {32u, 64u}) {
              for (const Form& form : forms_of(prefix)) {
                if (form.space == Space::kScratch) continue;  // atomics do not access scratch
                for (const bool returns : {false, true}) {
                  Bench bench(width);
                  u8* const buffer = bench.allocate(Image::kGlobalBytes);
                  const u64 active = returns ? 0xffff00ff5af0c3f5 : ~u64{0};
                  bench.set_scalar64(emulator::kExec, active);
                  const u32 data = kData;
                  const std::string data_text = registers(data, words * (compared ? 2 : 1));
                  std::string text = store_text(form, name, data_text);
                  if (returns && !is_buffer)
                    text = name + " " + registers(kOld, words) +
                           text.substr(name.size()).insert(0, ",");
                  if (returns) text += " glc";
                  const auto prepared = bench.prepare(text);
                  for (std::size_t first = 0; first < tuples.size(); first += width) {
                    Image expected = (fill_memory(bench, buffer), Image(bench, buffer));
                    u8* const memory = form.space == Space::kLds ? bench.lds().data() : buffer;
                    for (u32 lane = 0; lane < width; ++lane) {
                      const auto& tuple = tuples[(first + lane) % tuples.size()];
                      const u32 address = address_of(lane);
                      // The first lane of two determines the content of memory.
                      if (lane % 2 == 0) {
                        for (u32 i = 0; i < bytes; ++i)
                          memory[address + i] = static_cast<u8>(tuple[0] >> (8 * i));
                        expected.write(form.space, lane, address, bytes, tuple[0]);
                      }
                      form.set(bench, lane, reinterpret_cast<u64>(buffer), address);
                      bench.set64(data, lane, tuple[1]);
                      bench.set64(kOld, lane, 4444);
                      // Every third lane compares with a value other than that in memory.
                      const u64 there =
                          tuples[(first + lane / 2 * 2) % tuples.size()][0] + (lane % 3 == 0);
                      if (compared)
                        bench.set64(data + words, lane,
                                    words == 1 ? low_bits(static_cast<Wide>(there), 32) : there);
                    }
                    if (prepared) prepared->run(bench.wave());
                    for (u32 lane = 0; lane < width; ++lane) {
                      const auto& tuple = tuples[(first + lane) % tuples.size()];
                      const bool is_active = (active >> lane & 1) != 0;
                      const u32 address = address_of(lane);
                      const u64 old = expected.read(form.space, lane, address, bytes);
                      u64 updated = update.of(old, tuple[1]);
                      if (compared) {
                        const u64 there = low_bits(
                            static_cast<Wide>(tuples[(first + lane / 2 * 2) % tuples.size()][0] +
                                              (lane % 3 == 0)),
                            update.kind.bits);
                        updated = old == there ? tuple[1] : old;
                      }
                      if (is_active) expected.write(form.space, lane, address, bytes, updated);
                      const u32 reg = is_buffer ? data : kOld;
                      u64 got = bench.vector64(reg, lane);
                      u64 unchanged = is_buffer ? tuple[1] : 4444;
                      if (words == 1) {
                        got &= 0xffffffff;
                        unchanged &= 0xffffffff;
                      }
                      const u64 returned = returns && is_active ? old : unchanged;
                      const auto what = [&] {
                        return text + ", lane " + std::to_string(lane) + " of " + hex(old) + " " +
                               hex(tuple[1]);
                      };
                      if (!hold_equal(
                              prepared && is_same_update(update, got, returned) ? returned : got,
                              returned, what))
                        return;
                      if (lane % 2 == 0) continue;
                      Image now(bench, buffer);
                      const u64 result = now.read(form.space, lane, address, bytes);
                      const u64 wanted = expected.read(form.space, lane, address, bytes);
                      const bool same = prepared && is_same_update(update, result, wanted);
                      if (!hold_equal(same ? wanted : result, wanted,
                                      [&] { return what() + ": in memory"; }))
                        return;
                      // NaNs may differ in their payloads; continue with the actual value.
                      expected.write(form.space, lane, address, bytes, result);
                    }
                    if (!hold_equal(Image(bench, buffer) == expected, true,
                                    [&] { return text + ": other memory"; }))
                      return;
                  }
                }
              }
            }
          }};
}

}  // namespace

Formulas atomic_formulas() {
  Formulas rows;
  for (const std::string prefix : {"global", "flat", "buffer"}) {
    for (const Update& update : updates()) {
      if (update.name != "rsub") rows.push_back(atomic(prefix, update, false));
    }
    for (const Kind kind : {U<32>::kKind, U<64>::kKind}) {
      const Update swap{"cmpswap", "b" + std::to_string(kind.bits), kind,
                        [](u64, u64 data) { return data; }};
      rows.push_back(atomic(prefix, swap, true));
    }
  }
  return rows;
}

}  // namespace kiln::formulas
