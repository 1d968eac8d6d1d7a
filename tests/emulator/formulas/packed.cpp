// Operations on two values in a register or a pair of registers, and dot products of small numbers.
#include <algorithm>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

// ---- pairs: op_sel selects the half of each source for the low result, op_sel_hi for the high
// one; neg_lo and neg_hi negate float sources of these results

struct Pairs {
  std::string name;
  Kind element;
  std::size_t sources;
  std::function<u64(const u64* sources, bool clamp)> formula;
  bool clamps;
  bool accumulates;
};

std::string list(u32 bits, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ",") + std::to_string(bits >> i & 1);
  return text + "]";
}

u64 clamped_float(const Format& format, u64 raw) {
  if (format.is_nan(raw) || format.is_negative(raw)) return 0;
  return std::min(raw, format.one());
}

void hold_pairs(const Pairs& pairs) {
  const int bits = pairs.element.bits;
  const bool wide = bits == 32;
  const std::vector<Kind> kinds(pairs.sources, pairs.element);
  const auto tuples = tuples_of(kinds);
  struct Form {
    u32 low, high, negate_low, negate_high;
    bool clamp;
  };
  std::vector<Form> forms = {{0, 7, 0, 0, false}};
  if (!pairs.accumulates) {
    forms.push_back({5, 2, 0, 0, false});
    forms.push_back({2, 3, 0, 0, false});
    if (pairs.element.is_float()) forms.push_back({0, 7, 3, 6, false});
    if (pairs.clamps) forms.push_back({0, 7, 0, 0, true});
  }
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (const Form& form : forms) {
      std::string text = pairs.name + (wide ? " v[0:1]" : " v0");
      const std::size_t named = pairs.sources - (pairs.accumulates ? 1 : 0);
      for (std::size_t i = 0; i < named; ++i) {
        const std::string first = std::to_string(4 + 2 * i);
        text += wide ? ", v[" + first + ":" + std::to_string(5 + 2 * i) + "]" : ", v" + first;
      }
      if (!pairs.accumulates)
        text += " op_sel:" + list(form.low, named) + " op_sel_hi:" + list(form.high, named);
      if (form.negate_low != 0)
        text +=
            " neg_lo:" + list(form.negate_low, named) + " neg_hi:" + list(form.negate_high, named);
      if (form.clamp) text += " clamp";
      const auto prepared = bench.prepare(text);
      for (std::size_t first = 0; first < tuples.size(); first += width) {
        // The upper values come from another tuple.
        const auto source = [&](u32 lane, std::size_t i, bool upper) {
          return tuples[(first + lane + (upper ? 11 : 0)) % tuples.size()][i];
        };
        const auto put = [&](u32 reg, u32 lane, std::size_t i) {
          const u64 both = source(lane, i, false) | source(lane, i, true) << bits;
          bench.vector(reg, lane) = static_cast<u32>(both);
          if (wide) bench.vector(reg + 1, lane) = static_cast<u32>(both >> 32);
        };
        for (u32 lane = 0; lane < width; ++lane) {
          bench.set64(0, lane, 0x1234567887654321);
          for (std::size_t i = 0; i < named; ++i) put(4 + 2 * static_cast<u32>(i), lane, i);
          if (pairs.accumulates) put(0, lane, named);
        }
        if (prepared) prepared->run(bench.wave());
        for (u32 lane = 0; lane < width; ++lane) {
          const u64 whole = wide ? bench.vector64(0, lane) : bench.vector(0, lane);
          for (const bool upper : {false, true}) {
            u64 sources[3] = {};
            std::string of;
            for (std::size_t i = 0; i < pairs.sources; ++i) {
              const bool from_upper =
                  pairs.accumulates ? upper : ((upper ? form.high : form.low) >> i & 1) != 0;
              sources[i] = source(lane, i, from_upper);
              if (((upper ? form.negate_high : form.negate_low) >> i & 1) != 0)
                sources[i] ^= pairs.element.format().sign();
              of += " " + hex(sources[i]);
            }
            u64 expected = pairs.formula(sources, form.clamp);
            u64 got = low_bits(static_cast<Wide>(whole >> (upper ? bits : 0)), bits);
            if (form.clamp && pairs.element.is_float()) {
              const Format format = pairs.element.format();
              expected = clamped_float(format, expected);
              if (format.is_zero(got)) got = 0;
            }
            const bool same = prepared && is_same(pairs.element, got, expected);
            const auto what = [&] { return text + (upper ? ", high, of" : ", low, of") + of; };
            if (!hold_equal(same ? expected : got, expected, what)) return;
          }
        }
      }
    }
  }
}

template <typename T, std::size_t... kIndex, typename Function>
Formula make_pairs(std::string name, Function function, bool clamps, bool accumulates,
                   std::index_sequence<kIndex...>) {
  Pairs pairs{name,
              T::kKind,
              sizeof...(kIndex),
              [function](const u64* sources, bool clamp) {
                return T::encode(function(T::decode(sources[kIndex])...), clamp);
              },
              clamps,
              accumulates};
  return {std::move(name), [pairs = std::move(pairs)] { hold_pairs(pairs); }};
}
template <typename T, std::size_t kSources, typename Function>
Formula pairs(std::string name, Function function, bool clamps = false, bool accumulates = false) {
  return make_pairs<T>(std::move(name), function, clamps, accumulates,
                       std::make_index_sequence<kSources>{});
}

u64 lesser_half(u64 a, u64 b, bool greater) {
  if (kHalf.is_signalling(a) || kHalf.is_signalling(b)) return kHalf.nan();
  if (kHalf.is_nan(b)) return a;
  if (kHalf.is_nan(a)) return b;
  const Real x = real_of(a, kHalf);
  const Real y = real_of(b, kHalf);
  if (x == y) return greater ? a & b : a | b;
  return (x > y) == greater ? a : b;
}

// v_pk_mov_b32: the low result from the first source, the high result from the second.
void hold_pair_move() {
  for (const u32 width : {32u, 64u}) {
    for (u32 form = 0; form < 4; ++form) {
      Bench bench(width);
      for (u32 lane = 0; lane < width; ++lane) {
        for (u32 i = 0; i < 4; ++i) bench.vector(2 + i, lane) = 1000 * i + lane;
      }
      const std::string text = "v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:" + list(form, 2);
      const bool known = bench.run(text);
      for (u32 lane = 0; lane < width; ++lane) {
        hold_equal(known ? bench.vector(0, lane) : 1, 1000 * (form & 1) + lane,
                   [&] { return text; });
        hold_equal(bench.vector(1, lane), 1000 * (2 + (form >> 1)) + lane, [&] { return text; });
      }
    }
  }
}

// ---- dot products

struct Dot {
  std::string name;
  int parts;  // of 32 / parts bits
  bool first_signed, second_signed, result_signed;
  bool accumulates = false;
  std::string modifiers = {};
};

void hold_dot(const Dot& dot) {
  const Kind word = U<32>::kKind;
  const auto tuples = tuples_of({word, word, word});
  const int bits = 32 / dot.parts;
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (const bool clamp : {false, true}) {
      if (clamp && dot.accumulates) continue;
      const std::string text = dot.name + " v0, v4, v6" + (dot.accumulates ? "" : ", v8") +
                               dot.modifiers + (clamp ? " clamp" : "");
      const auto prepared = bench.prepare(text);
      for (std::size_t first = 0; first < tuples.size(); first += width) {
        for (u32 lane = 0; lane < width; ++lane) {
          const auto& tuple = tuples[(first + lane) % tuples.size()];
          bench.vector(4, lane) = static_cast<u32>(tuple[0]);
          bench.vector(6, lane) = static_cast<u32>(tuple[1]);
          bench.vector(dot.accumulates ? 0 : 8, lane) = static_cast<u32>(tuple[2]);
        }
        if (prepared) prepared->run(bench.wave());
        for (u32 lane = 0; lane < width; ++lane) {
          const auto& tuple = tuples[(first + lane) % tuples.size()];
          Wide total =
              dot.result_signed ? sign_extended(tuple[2], 32) : static_cast<Wide>(tuple[2]);
          for (int i = 0; i < dot.parts; ++i) {
            const auto part = [&](u64 x, bool is_signed) {
              x = low_bits(static_cast<Wide>(x >> (i * bits)), bits);
              return is_signed ? sign_extended(x, bits) : static_cast<Wide>(x);
            };
            total += part(tuple[0], dot.first_signed) * part(tuple[1], dot.second_signed);
          }
          const u64 expected =
              dot.result_signed ? I<32>::encode(total, clamp) : U<32>::encode(total, clamp);
          const auto what = [&] {
            return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]) + " " + hex(tuple[2]);
          };
          if (!hold_equal(prepared ? bench.vector(0, lane) : ~expected, expected, what)) return;
        }
      }
    }
  }
}
Formula dot(Dot product) {
  std::string name = product.name;
  return {std::move(name), [product = std::move(product)] { hold_dot(product); }};
}
// Bits of neg_lo give the signs of the two sources.
Formula dot_by_modifier(const std::string& name, int parts) {
  return {name, [=] {
            for (u32 signs = 0; signs < 4; ++signs)
              hold_dot({name, parts, signs % 2 != 0, signs / 2 != 0, true, false,
                        " neg_lo:" + list(signs, 3)});
          }};
}

// Dot products of two floats in a register, added to a float: first the low product, then the high
// one, with each sum rounded. The exponents are chosen so that every product is exact.
Formula float_dot(const std::string& name, const Format& format, bool accumulates) {
  return {
      name, [=] {
        u64 state = 5;
        for (const u32 width : {32u, 64u}) {
          Bench bench(width);
          for (const bool modified : {false, true}) {
            if (modified && accumulates) continue;
            const std::string text =
                name + " v0, v4, v6" + (accumulates ? "" : ", v8") +
                (modified ? " op_sel:[1,0,0] op_sel_hi:[1,0,0] neg_lo:[1,0,0] neg_hi:[0,1,0]" : "");
            const auto prepared = bench.prepare(text);
            for (int round = 0; round < 40; ++round) {
              const auto random_part = [&] {
                const u64 x = next_random(state);
                const int exponent = format.bias() - 5 + static_cast<int>(x >> 40 & 7);
                return low_bits(static_cast<Wide>((x & ~format.infinity()) |
                                                  static_cast<u64>(exponent) << format.fraction),
                                16);
              };
              u64 source[64][3];
              for (u32 lane = 0; lane < width; ++lane) {
                source[lane][0] = random_part() | random_part() << 16;
                source[lane][1] = random_part() | random_part() << 16;
                source[lane][2] =
                    (next_random(state) & 0x807fffff) | (122 + next_random(state) % 10) << 23;
                bench.vector(4, lane) = static_cast<u32>(source[lane][0]);
                bench.vector(6, lane) = static_cast<u32>(source[lane][1]);
                bench.vector(accumulates ? 0 : 8, lane) = static_cast<u32>(source[lane][2]);
              }
              if (prepared) prepared->run(bench.wave());
              for (u32 lane = 0; lane < width; ++lane) {
                const auto part = [&](int i, bool upper) {
                  return real_of(source[lane][i] >> (upper ? 16 : 0) & 0xffff, format);
                };
                Real products[2] = {part(0, false) * part(1, false), part(0, true) * part(1, true)};
                if (modified) {
                  products[0] = -part(0, true) * part(1, false);
                  products[1] = part(0, true) * -part(1, false);
                }
                u64 expected = source[lane][2];
                for (const Real product : products)
                  expected = round_to(sum(real_of(expected, kSingle), product), kSingle);
                const auto what = [&] {
                  return text + " of " + hex(source[lane][0]) + " " + hex(source[lane][1]) + " " +
                         hex(source[lane][2]);
                };
                if (!hold_equal(prepared ? bench.vector(0, lane) : ~expected, expected, what))
                  return;
              }
            }
          }
        }
      }};
}

}  // namespace

// clang-format off
Formulas packed_formulas() {
  using F16 = F<16>;
  using F32 = F<32>;
  using U16 = U<16>;
  using I16 = I<16>;
  const auto add = [](auto a, auto b) { return a + b; };
  const auto subtract = [](auto a, auto b) { return a - b; };
  const auto multiply = [](auto a, auto b) { return a * b; };
  const auto lesser = [](auto a, auto b) { return std::min(a, b); };
  const auto greater = [](auto a, auto b) { return std::max(a, b); };
  const auto multiply_add = [](Wide a, Wide b, Wide c) { return a * b + c; };
  const auto fused = [](Real a, Real b, Real c) { return sum(a * b, c); };
  return {
      pairs<F16, 2>("v_pk_add_f16", sum, true),
      pairs<F16, 2>("v_pk_mul_f16", multiply, true),
      pairs<Raw<16>, 2>("v_pk_min_f16", [](u64 a, u64 b) { return lesser_half(a, b, false); }, true),
      pairs<Raw<16>, 2>("v_pk_max_f16", [](u64 a, u64 b) { return lesser_half(a, b, true); }, true),
      pairs<F16, 3>("v_pk_fma_f16", fused, true),
      pairs<F16, 3>("v_pk_fmac_f16", fused, false, true),
      pairs<U16, 2>("v_pk_add_u16", add, true),
      pairs<U16, 2>("v_pk_sub_u16", subtract, true),
      pairs<I16, 2>("v_pk_add_i16", add, true),
      pairs<I16, 2>("v_pk_sub_i16", subtract, true),
      pairs<U16, 2>("v_pk_mul_lo_u16", multiply),
      pairs<U16, 3>("v_pk_mad_u16", multiply_add, true),
      pairs<I16, 3>("v_pk_mad_i16", multiply_add, true),
      pairs<U16, 2>("v_pk_lshlrev_b16", [](Wide n, Wide x) { return x << (n % 16); }),
      pairs<U16, 2>("v_pk_lshrrev_b16", [](Wide n, Wide x) { return x >> (n % 16); }),
      pairs<I16, 2>("v_pk_ashrrev_i16", [](Wide n, Wide x) { return x >> (n & 15); }),
      pairs<U16, 2>("v_pk_min_u16", lesser),
      pairs<U16, 2>("v_pk_max_u16", greater),
      pairs<I16, 2>("v_pk_min_i16", lesser),
      pairs<I16, 2>("v_pk_max_i16", greater),
      pairs<F32, 2>("v_pk_add_f32", sum, true),
      pairs<F32, 2>("v_pk_mul_f32", multiply, true),
      pairs<F32, 3>("v_pk_fma_f32", fused, true),
      {"v_pk_mov_b32", hold_pair_move},

      dot({"v_dot4_i32_i8", 4, true, true, true}),
      dot({"v_dot4_u32_u8", 4, false, false, false}),
      dot({"v_dot4c_i32_i8", 4, true, true, true, true}),
      dot_by_modifier("v_dot4_i32_iu8", 4),
      dot({"v_dot8_i32_i4", 8, true, true, true}),
      dot({"v_dot8_u32_u4", 8, false, false, false}),
      dot({"v_dot8c_i32_i4", 8, true, true, true, true}),
      dot_by_modifier("v_dot8_i32_iu4", 8),
      dot({"v_dot2_i32_i16", 2, true, true, true}),
      dot({"v_dot2_u32_u16", 2, false, false, false}),
      dot({"v_dot2c_i32_i16", 2, true, true, true, true}),
      float_dot("v_dot2_f32_f16", kHalf, false),
      float_dot("v_dot2_f32_bf16", kBfloat, false),
      float_dot("v_dot2c_f32_f16", kHalf, true),
      float_dot("v_dot2acc_f32_f16", kHalf, true),
  };
}
// clang-format on

}  // namespace kiln::formulas
