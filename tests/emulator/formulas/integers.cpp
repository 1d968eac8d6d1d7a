// Integer arithmetic.
#include <algorithm>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

Wide middle(Wide a, Wide b, Wide c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
Wide distance(Wide a, Wide b) { return std::max(a, b) - std::min(a, b); }
Wide signed24(Wide x) { return sign_extended(static_cast<u64>(x), 24); }
Wide unsigned24(Wide x) { return x % 0x1000000; }

// The sum of the absolute differences of `count` parts of `bits` bits.
Wide distances(Wide a, Wide b, int count, int bits) {
  Wide sum = 0;
  for (int i = 0; i < count; ++i) {
    const Wide mask = (Wide{1} << bits) - 1;
    sum += distance(a >> (i * bits) & mask, b >> (i * bits) & mask);
  }
  return sum;
}

// Additions that write a mask of carries and may read one. The exact result gives both: its low
// bits, and whether it is outside of the unsigned range.
enum class CarryIn : u8 { kNo, kYes };
Formula carrying(std::string name, CarryIn carry_in, Wide (*result)(Wide a, Wide b, Wide carry)) {
  return {name, [=] {
            const Kind kind = U<32>::kKind;
            const auto tuples = tuples_of({kind, kind});
            for (const u32 width : {32u, 64u}) {
              emulator::Bench bench(width);
              const u64 active = width == 32 ? 0xff3cf0a5 : 0x0123456789abcdef;
              bench.set_scalar64(emulator::kExec, active);
              const u64 carries = 0xa5c3f00f5a3c0ff0;
              const std::string out = width == 32 ? "s6" : "s[6:7]";
              const std::string in = width == 32 ? ", s8" : ", s[8:9]";
              for (const bool clamp : {false, true}) {
                const std::string text = name + " v0, " + out + ", v1, v2" +
                                         (carry_in == CarryIn::kYes ? in : "") +
                                         (clamp ? " clamp" : "");
                const auto prepared = bench.prepare(text);
                for (std::size_t first = 0; first < tuples.size(); first += width) {
                  bench.set_scalar64(6, ~u64{0});
                  bench.set_scalar64(8, carries);
                  for (u32 lane = 0; lane < width; ++lane) {
                    const auto& tuple = tuples[(first + lane) % tuples.size()];
                    bench.vector(0, lane) = 99;
                    bench.vector(1, lane) = static_cast<u32>(tuple[0]);
                    bench.vector(2, lane) = static_cast<u32>(tuple[1]);
                  }
                  if (prepared) prepared->run(bench.wave());
                  u64 mask = 0;
                  for (u32 lane = 0; lane < width; ++lane) {
                    if ((active >> lane & 1) == 0) {
                      hold_equal(bench.vector(0, lane), 99, [&] { return text; });
                      continue;
                    }
                    const auto& tuple = tuples[(first + lane) % tuples.size()];
                    const Wide carry = carry_in == CarryIn::kYes ? carries >> lane & 1 : 0;
                    const Wide exact =
                        result(static_cast<Wide>(tuple[0]), static_cast<Wide>(tuple[1]), carry);
                    if (exact < 0 || exact > 0xffffffff) mask |= u64{1} << lane;
                    const auto what = [&] {
                      return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]);
                    };
                    if (!hold_equal(bench.vector(0, lane), U<32>::encode(exact, clamp), what))
                      return;
                  }
                  const u64 got = width == 32 ? bench.scalar(6) : bench.scalar64(6);
                  if (!hold_equal(got, mask, [&] { return text + ": the carries"; })) return;
                }
              }
            }
          }};
}

// v_mad_u64_u32 and v_mad_i64_i32: a 64-bit sum and its carry.
template <typename Factor, typename Term>
Formula wide_product(std::string name) {
  return {name, [name] {
            const auto tuples = tuples_of({Factor::kKind, Factor::kKind, Term::kKind});
            for (const u32 width : {32u, 64u}) {
              emulator::Bench bench(width);
              const std::string out = width == 32 ? "s6" : "s[6:7]";
              const std::string text = name + " v[0:1], " + out + ", v2, v3, v[4:5]";
              const auto prepared = bench.prepare(text);
              for (std::size_t first = 0; first < tuples.size(); first += width) {
                for (u32 lane = 0; lane < width; ++lane) {
                  const auto& tuple = tuples[(first + lane) % tuples.size()];
                  bench.vector(2, lane) = static_cast<u32>(tuple[0]);
                  bench.vector(3, lane) = static_cast<u32>(tuple[1]);
                  bench.set64(4, lane, tuple[2]);
                }
                if (prepared) prepared->run(bench.wave());
                u64 mask = 0;
                for (u32 lane = 0; lane < width; ++lane) {
                  const auto& tuple = tuples[(first + lane) % tuples.size()];
                  const Wide exact =
                      Factor::decode(tuple[0]) * Factor::decode(tuple[1]) + Term::decode(tuple[2]);
                  // The highest of 65 bits.
                  if ((exact >> 64 & 1) != 0) mask |= u64{1} << lane;
                  const auto what = [&] {
                    return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]) + " " +
                           hex(tuple[2]);
                  };
                  if (!hold_equal(bench.vector64(0, lane), Term::encode(exact, false), what))
                    return;
                }
                const u64 got = width == 32 ? bench.scalar(6) : bench.scalar64(6);
                if (!hold_equal(got, mask, [&] { return text + ": the carries"; })) return;
              }
            }
          }};
}

// Minimum, maximum and their combinations, for one type.
template <typename T>
void add_orders(Formulas& rows, const std::string& type) {
  const auto add = [&](const char* name, auto function) {
    rows.push_back(vector<T, T, T, T>("v_" + std::string(name) + "_" + type, function));
  };
  rows.push_back(vector<T, T, T>("v_min_" + type, [](Wide a, Wide b) { return std::min(a, b); }));
  rows.push_back(vector<T, T, T>("v_max_" + type, [](Wide a, Wide b) { return std::max(a, b); }));
  add("min3", [](Wide a, Wide b, Wide c) { return std::min({a, b, c}); });
  add("max3", [](Wide a, Wide b, Wide c) { return std::max({a, b, c}); });
  add("med3", middle);
  if (T::kKind.bits != 32) return;
  add("maxmin", [](Wide a, Wide b, Wide c) { return std::min(std::max(a, b), c); });
  add("minmax", [](Wide a, Wide b, Wide c) { return std::max(std::min(a, b), c); });
}

}  // namespace

// clang-format off
Formulas integer_formulas() {
  using U16 = U<16>;
  using U32 = U<32>;
  using I16 = I<16>;
  using I32 = I<32>;
  const VectorOptions saturates = {.clamps = true};
  // On gfx9, most 16-bit results clear the upper half; these do not.
  const VectorOptions saturates_and_keeps = {.clamps = true, .keeps_upper = true};
  Formulas rows = {
      vector<U32, U32, U32>("v_add_nc_u32", [](Wide a, Wide b) { return a + b; }, saturates),
      vector<U32, U32, U32>("v_sub_nc_u32", [](Wide a, Wide b) { return a - b; }, saturates),
      vector<U32, U32, U32>("v_subrev_nc_u32", [](Wide a, Wide b) { return b - a; }, saturates),
      vector<I32, I32, I32>("v_add_nc_i32", [](Wide a, Wide b) { return a + b; }, saturates),
      vector<I32, I32, I32>("v_sub_nc_i32", [](Wide a, Wide b) { return a - b; }, saturates),
      vector<U16, U16, U16>("v_add_nc_u16", [](Wide a, Wide b) { return a + b; }, saturates),
      vector<U16, U16, U16>("v_sub_nc_u16", [](Wide a, Wide b) { return a - b; }, saturates),
      vector<U16, U16, U16>("v_subrev_nc_u16", [](Wide a, Wide b) { return b - a; }, saturates),
      vector<I16, I16, I16>("v_add_nc_i16", [](Wide a, Wide b) { return a + b; }, saturates),
      vector<I16, I16, I16>("v_sub_nc_i16", [](Wide a, Wide b) { return a - b; }, saturates),

      carrying("v_add_co_u32", CarryIn::kNo, [](Wide a, Wide b, Wide) { return a + b; }),
      carrying("v_sub_co_u32", CarryIn::kNo, [](Wide a, Wide b, Wide) { return a - b; }),
      carrying("v_subrev_co_u32", CarryIn::kNo, [](Wide a, Wide b, Wide) { return b - a; }),
      carrying("v_add_co_ci_u32", CarryIn::kYes, [](Wide a, Wide b, Wide carry) { return a + b + carry; }),
      carrying("v_sub_co_ci_u32", CarryIn::kYes, [](Wide a, Wide b, Wide carry) { return a - b - carry; }),
      carrying("v_subrev_co_ci_u32", CarryIn::kYes, [](Wide a, Wide b, Wide carry) { return b - a - carry; }),

      vector<U32, U32, U32>("v_mul_lo_u32", [](Wide a, Wide b) { return a * b; }),
      vector<U32, U32, U32>("v_mul_hi_u32", [](Wide a, Wide b) { return (a * b) >> 32; }),
      vector<I32, I32, I32>("v_mul_hi_i32", [](Wide a, Wide b) { return (a * b) >> 32; }),
      vector<U16, U16, U16>("v_mul_lo_u16", [](Wide a, Wide b) { return a * b; }, saturates),
      vector<U32, U32, U32>("v_mul_u32_u24", [](Wide a, Wide b) { return unsigned24(a) * unsigned24(b); }),
      vector<U32, U32, U32>("v_mul_hi_u32_u24", [](Wide a, Wide b) { return (unsigned24(a) * unsigned24(b)) >> 32; }),
      vector<I32, U32, U32>("v_mul_i32_i24", [](Wide a, Wide b) { return signed24(a) * signed24(b); }),
      vector<I32, U32, U32>("v_mul_hi_i32_i24", [](Wide a, Wide b) { return (signed24(a) * signed24(b)) >> 32; }),
      vector<U32, U32, U32, U32>("v_mad_u32_u24", [](Wide a, Wide b, Wide c) { return unsigned24(a) * unsigned24(b) + c; }),
      vector<I32, U32, U32, I32>("v_mad_i32_i24", [](Wide a, Wide b, Wide c) { return signed24(a) * signed24(b) + c; }),
      vector<U32, U16, U16, U32>("v_mad_u32_u16", [](Wide a, Wide b, Wide c) { return a * b + c; }),
      vector<I32, I16, I16, I32>("v_mad_i32_i16", [](Wide a, Wide b, Wide c) { return a * b + c; }),
      vector<U16, U16, U16, U16>("v_mad_u16", [](Wide a, Wide b, Wide c) { return a * b + c; }, saturates_and_keeps),
      vector<I16, I16, I16, I16>("v_mad_i16", [](Wide a, Wide b, Wide c) { return a * b + c; }, saturates_and_keeps),
      vector<U16, U16, U16, U16>("v_mad_legacy_u16", [](Wide a, Wide b, Wide c) { return a * b + c; }, saturates),
      vector<I16, I16, I16, I16>("v_mad_legacy_i16", [](Wide a, Wide b, Wide c) { return a * b + c; }, saturates),
      wide_product<U32, U<64>>("v_mad_u64_u32"),
      wide_product<I32, I<64>>("v_mad_i64_i32"),

      vector<U32, U32, U32, U32>("v_sad_u8", [](Wide a, Wide b, Wide c) { return distances(a, b, 4, 8) + c; }),
      vector<U32, U32, U32, U32>("v_sad_hi_u8", [](Wide a, Wide b, Wide c) { return (distances(a, b, 4, 8) << 16) + c; }),
      vector<U32, U32, U32, U32>("v_sad_u16", [](Wide a, Wide b, Wide c) { return distances(a, b, 2, 16) + c; }),
      vector<U32, U32, U32, U32>("v_sad_u32", [](Wide a, Wide b, Wide c) { return distance(a, b) + c; }),
  };
  add_orders<U32>(rows, "u32");
  add_orders<I32>(rows, "i32");
  add_orders<U16>(rows, "u16");
  add_orders<I16>(rows, "i16");
  return rows;
}
// clang-format on

}  // namespace kiln::formulas
