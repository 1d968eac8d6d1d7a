#include "tests/emulator/formulas/transfers.hpp"

#include "tests/emulator/formulas/spaces.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

constexpr u32 kData = 10;  // the first register of data

// Returns the address that a lane accesses: also odd addresses, in no particular order.
u32 address_of(Space space, u32 lane) {
  return space == Space::kScratch ? 16 + lane * 7 % 200 : 32 + (lane * 37 % 64) * 21;
}
constexpr u64 kActive[] = {~u64{0}, 0x5a3c0ff0963ca50f};

void set_data(Bench& bench, u32 lane) {
  for (u32 i = 0; i < 5; ++i) bench.vector(kData + i, lane) = 0x9e3779b9 * (lane * 5 + i + 1);
}

}  // namespace

Formula load(const std::string& prefix, const std::string& name, u32 bytes, Extend extend,
             Into into) {
  return {name, [=] {
            const u32 count = (bytes + 3) / 4;
            for (const u32 width : {32u, 64u}) {
              for (const Form& form : forms_of(prefix)) {
                for (const u64 active : kActive) {
                  for (const u32 first : {kData, 0u}) {  // 0: overwrites its own address
                    Bench bench(width);
                    u8* const buffer = bench.allocate(Image::kGlobalBytes);
                    fill_memory(bench, buffer);
                    bench.set_scalar64(emulator::kExec, active);
                    for (u32 lane = 0; lane < width; ++lane) {
                      set_data(bench, lane);
                      form.set(bench, lane, reinterpret_cast<u64>(buffer),
                               address_of(form.space, lane));
                    }
                    std::vector<u32> before;
                    for (u32 lane = 0; lane < width; ++lane) {
                      for (u32 i = 0; i <= count; ++i)
                        before.push_back(bench.vector(first + i, lane));
                    }
                    const std::string text = load_text(form, name, registers(first, count));
                    const bool known = bench.run(text);
                    Image image(bench, buffer);
                    for (u32 lane = 0; lane < width; ++lane) {
                      for (u32 i = 0; i <= count; ++i) {
                        u64 expected = before[lane * (count + 1) + i];
                        if (i < count && (active >> lane & 1) != 0) {
                          const u64 old = expected;
                          const u32 size = bytes < 4 ? bytes : 4;
                          expected = image.read(form.space, lane,
                                                address_of(form.space, lane) + 4 * i, size);
                          if (extend == Extend::kSign)
                            expected =
                                low_bits(sign_extended(expected, static_cast<int>(8 * bytes)), 32);
                          const u64 half = expected & 0xffff;
                          if (into == Into::kLowHalf) expected = (old >> 16 << 16) | half;
                          if (into == Into::kHighHalf) expected = (old & 0xffff) | half << 16;
                        }
                        const auto what = [&] {
                          return text + ", lane " + std::to_string(lane) + " of " +
                                 std::to_string(width);
                        };
                        if (!hold_equal(known ? bench.vector(first + i, lane) : ~expected, expected,
                                        what))
                          return;
                      }
                    }
                  }
                }
              }
            }
          }};
}

Formula store(const std::string& prefix, const std::string& name, u32 bytes, bool upper_half) {
  return {name, [=] {
            const u32 count = (bytes + 3) / 4;
            for (const u32 width : {32u, 64u}) {
              for (const Form& form : forms_of(prefix)) {
                for (const u64 active : kActive) {
                  Bench bench(width);
                  u8* const buffer = bench.allocate(Image::kGlobalBytes);
                  fill_memory(bench, buffer);
                  Image expected(bench, buffer);
                  bench.set_scalar64(emulator::kExec, active);
                  for (u32 lane = 0; lane < width; ++lane) {
                    const u32 address = address_of(form.space, lane);
                    set_data(bench, lane);
                    form.set(bench, lane, reinterpret_cast<u64>(buffer), address);
                    if ((active >> lane & 1) == 0) continue;
                    for (u32 i = 0; i < count; ++i) {
                      const u64 value = u64{bench.vector(kData + i, lane)} >> (upper_half ? 16 : 0);
                      expected.write(form.space, lane, address + 4 * i, bytes < 4 ? bytes : 4,
                                     value);
                    }
                  }
                  const std::string text = store_text(form, name, registers(kData, count));
                  const bool known = bench.run(text);
                  const bool same = known && Image(bench, buffer) == expected;
                  if (!hold_equal(same, true,
                                  [&] { return text + ", waves of " + std::to_string(width); }))
                    return;
                }
              }
            }
          }};
}

}  // namespace kiln::formulas
