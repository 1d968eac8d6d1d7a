// Floating-point arithmetic.
//
// Sums and products are exact before their single rounding. Functions that hardware approximates
// may be off by one unit in the last place of the result. Instructions that flush subnormals are
// not tested with subnormal inputs or outputs (docs/EMULATOR.md: the emulator never flushes).
#include <algorithm>
#include <cmath>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"
#include "tests/emulator/formulas/two_over_pi.hpp"

namespace kiln::formulas {
namespace {

// ---- minimum and maximum, in IEEE mode: a signalling NaN is the result, a quiet one is ignored,
// -0 < +0

Wide order_of(const Format& format, u64 raw) {
  const Wide size = static_cast<Wide>(raw & (format.sign() - 1));
  return format.is_negative(raw) ? -1 - size : size;
}
template <int kBits>
u64 chosen(u64 a, u64 b, bool greater) {
  const Format format = F<kBits>::kKind.format();
  if (format.is_signalling(a)) return a | format.quiet_bit();
  if (format.is_signalling(b)) return b | format.quiet_bit();
  if (format.is_nan(b)) return a;
  if (format.is_nan(a)) return b;
  return (order_of(format, a) > order_of(format, b)) == greater ? a : b;
}
template <int kBits>
u64 lesser(u64 a, u64 b) {
  return chosen<kBits>(a, b, false);
}
template <int kBits>
u64 greater(u64 a, u64 b) {
  return chosen<kBits>(a, b, true);
}
// Returns the median; zeros count as equal.
template <int kBits>
u64 middle(u64 a, u64 b, u64 c) {
  const Format format = F<kBits>::kKind.format();
  if (format.is_nan(a) || format.is_nan(b) || format.is_nan(c))
    return lesser<kBits>(lesser<kBits>(a, b), c);
  const Real greatest = real_of(greater<kBits>(greater<kBits>(a, b), c), format);
  if (real_of(a, format) == greatest) return greater<kBits>(b, c);
  if (real_of(b, format) == greatest) return greater<kBits>(a, c);
  return greater<kBits>(a, b);
}

template <int kBits>
void add_orders(Formulas& rows, const std::string& type) {
  using R = Raw<kBits>;
  rows.push_back(vector<R, R, R>("v_min_" + type, lesser<kBits>));
  rows.push_back(vector<R, R, R>("v_max_" + type, greater<kBits>));
  if (kBits == 64) return;
  const auto add = [&](const char* name, u64 (*function)(u64, u64, u64)) {
    rows.push_back(vector<R, R, R, R>("v_" + std::string(name) + "_" + type, function));
  };
  add("min3", [](u64 a, u64 b, u64 c) { return lesser<kBits>(lesser<kBits>(a, b), c); });
  add("max3", [](u64 a, u64 b, u64 c) { return greater<kBits>(greater<kBits>(a, b), c); });
  add("med3", middle<kBits>);
  add("maxmin", [](u64 a, u64 b, u64 c) { return lesser<kBits>(greater<kBits>(a, b), c); });
  add("minmax", [](u64 a, u64 b, u64 c) { return greater<kBits>(lesser<kBits>(a, b), c); });
}

// ---- common to all widths

Real ceiling(Real x) { return -floored(-x); }

// The significand in [0.5, 1) and the power of 2 that make up `x`.
Real significand(Real x) {
  if (is_nan(x) || is_infinite(x) || x == 0) return x;
  while (magnitude(x) >= 1) x /= 2;
  while (magnitude(x) < Real{0.5}) x *= 2;
  return x;
}
Wide exponent(Real x) {
  if (is_nan(x) || is_infinite(x) || x == 0) return 0;
  Wide result = 0;
  for (; magnitude(x) >= 1; ++result) x /= 2;
  for (; magnitude(x) < Real{0.5}; --result) x *= 2;
  return result;
}
Real scaled(Real x, Wide power) {
  return x * power_of_two(static_cast<int>(std::clamp(power, Wide{-3000}, Wide{3000})));
}
// The distance to the next lower integer. In f32 and f64 it is less than 1 for any rounding.
template <int kBits>
u64 fraction(Real x) {
  const Format format = F<kBits>::kKind.format();
  const u64 raw = round_to(sum(x, -floored(x)), format);
  return format.is_nan(raw) || kBits == 16 ? raw : std::min(raw, format.one() - 1);
}

template <int kBits>
void add_for_width(Formulas& rows, const std::string& type) {
  using T = F<kBits>;
  const auto add = [&](const char* name, Real (*function)(Real)) {
    rows.push_back(vector<T, T>("v_" + std::string(name) + "_" + type, function));
  };
  add("floor", floored);
  add("ceil", ceiling);
  add("trunc", truncated);
  add("rndne", to_nearest_even);
  add("frexp_mant", significand);
  rows.push_back(vector<Raw<kBits>, T>("v_fract_" + type, fraction<kBits>));
  rows.push_back(vector<T, T, T>("v_add_" + type, sum));
  rows.push_back(vector<T, T, T>("v_mul_" + type, [](Real a, Real b) { return a * b; }));
  add_orders<kBits>(rows, type);
}

// ---- fused and unfused multiplication with addition

Real fused(Real a, Real b, Real c) { return sum(a * b, c); }
template <int kBits>
Real unfused(Real a, Real b, Real c) {
  const Format format = F<kBits>::kKind.format();
  return sum(real_of(round_to(a * b, format), format), c);
}
Real legacy(Real a, Real b, Real c) { return a == 0 || b == 0 ? c : fused(a, b, c); }

template <int kBits>
void add_products(Formulas& rows, const std::string& type, const std::string& verb, bool is_fused) {
  using T = F<kBits>;
  const auto function = is_fused ? fused : unfused<kBits>;
  const bool keeps = kBits == 16;  // on gfx9, unlike most 16-bit results
  rows.push_back(vector<T, T, T, T>("v_" + std::string(is_fused ? "fma_" : "mad_") + type, function,
                                    {.keeps_upper = keeps}));
  rows.push_back(vector<T, T, T, T>("v_" + verb + "c_" + type, function,
                                    {.accumulates = true, .keeps_upper = keeps}));
  if (kBits == 64) return;
  const std::string name = is_fused ? "fma" : "mad";
  rows.push_back(vector<T, T, T, T>("v_" + name + "ak_" + type, function,
                                    {.has_modifiers = false, .keeps_upper = keeps, .literal = 2}));
  rows.push_back(vector<T, T, T, T>("v_" + name + "mk_" + type, function,
                                    {.has_modifiers = false, .keeps_upper = keeps, .literal = 1}));
}

// ---- approximated functions, computed in `long double`

using LongReal = long double;
LongReal narrow(Real x) { return static_cast<LongReal>(x); }
// The angle is in turns, so quarters of a turn are exact.
Real sine_of_quarter(Real rest, int quarter) {
  const LongReal angle = narrow(rest) * 6.283185307179586476925286766559L;
  const LongReal values[] = {std::sin(angle), std::cos(angle), -std::sin(angle), -std::cos(angle)};
  return values[quarter & 3] + LongReal{0};  // no -0
}
Real turned_sine(Real turns, int quarters_ahead) {
  if (is_infinite(turns) || is_nan(turns)) return turns - turns;
  const Real part = turns - to_nearest_even(turns);
  const Real quarter = to_nearest_even(part * 4);
  return sine_of_quarter(part - quarter / 4, static_cast<int>(quarter) + quarters_ahead);
}
Real sine(Real x) { return x == 0 ? x : turned_sine(x, 0); }
Real cosine(Real x) { return turned_sine(x, 1); }
Real power(Real x) { return std::exp2(narrow(x)); }
Real logarithm(Real x) { return std::log2(narrow(x)); }
Real reciprocal(Real x) { return 1 / x; }
Real root(Real x) { return std::sqrt(narrow(x)); }
Real reciprocal_root(Real x) { return x == 0 ? 1 / x : 1 / std::sqrt(narrow(x)); }

// The values of a source without subnormals.
template <int kBits>
std::vector<u64> without_subnormals() {
  std::vector<u64> values;
  for (const auto& tuple : tuples_of({F<kBits>::kKind})) {
    if (!F<kBits>::kKind.format().is_subnormal(tuple[0])) values.push_back(tuple[0]);
  }
  return values;
}
// Tests a function of f32 that flushes subnormal inputs and outputs.
Formula flushing(const std::string& name, Real (*function)(Real)) {
  VectorOptions options = {.ulps = 1, .values = {{}}};
  for (const u64 raw : without_subnormals<32>()) {
    const u64 result = round_to(function(real_of(raw, kSingle)), kSingle);
    if (!kSingle.is_subnormal(result)) options.values[0].push_back(raw);
  }
  // The values are chosen for the source without modifiers.
  options.has_modifiers = false;
  return vector<F<32>, F<32>>("v_" + name + "_f32", function, options);
}
template <int kBits>
Formula approximate(const std::string& name, const std::string& type, Real (*function)(Real)) {
  return vector<F<kBits>, F<kBits>>("v_" + name + "_" + type, function, {.ulps = 1});
}

// ---- division, in steps

struct DivisionFormat {
  int scale, far_apart, tiny, underflow;
};
template <int kBits>
constexpr DivisionFormat kDivision =
    kBits == 32 ? DivisionFormat{64, 96, 23, -150} : DivisionFormat{128, 768, 53, -1075};

template <int kBits>
int biased(u64 raw) {
  const Format format = F<kBits>::kKind.format();
  return static_cast<int>((raw & format.infinity()) >> format.fraction);
}
template <int kBits>
bool becomes_subnormal(Real x) {
  const Format format = F<kBits>::kKind.format();
  const u64 raw = round_to(x, format);
  return !is_nan(x) && (format.is_subnormal(raw) || format.is_zero(raw));
}

struct Scaled {
  u64 raw;
  bool flag;
};
template <int kBits>
Scaled division_scaled(u64 value, u64 denominator, u64 numerator) {
  const Format format = F<kBits>::kKind.format();
  const DivisionFormat& d = kDivision<kBits>;
  const Real v = real_of(value, format);
  const Real b = real_of(denominator, format);
  const Real a = real_of(numerator, format);
  const auto times = [&](int power) { return round_to(v * power_of_two(power), format); };
  if (a == 0 || b == 0) return {format.nan(), false};
  if (biased<kBits>(numerator) - biased<kBits>(denominator) >= d.far_apart)
    return {v == b ? times(d.scale) : value, true};
  if (format.is_subnormal(denominator)) return {times(d.scale), false};
  const bool tiny_reciprocal = becomes_subnormal<kBits>(1 / b);
  const bool tiny_quotient = becomes_subnormal<kBits>(a / b);
  // According to the documents, the denominator is scaled up here as well; it would then become
  // infinite, and the quotient 0. It must be scaled down.
  if (tiny_reciprocal && tiny_quotient) return {v == b ? times(-d.scale) : value, true};
  if (tiny_reciprocal) return {times(-d.scale), false};
  if (tiny_quotient) return {v == a ? times(d.scale) : value, true};
  if (biased<kBits>(numerator) <= d.tiny) return {times(d.scale), false};
  return {value, false};
}

template <int kBits>
u64 division_fixed(u64 quotient, u64 denominator, u64 numerator) {
  const Format format = F<kBits>::kKind.format();
  const u64 sign = (denominator ^ numerator) & format.sign();
  if (format.is_nan(numerator) || format.is_nan(denominator)) return format.nan();
  if (format.is_zero(denominator) && format.is_zero(numerator)) return format.nan();
  if (format.is_infinite(denominator) && format.is_infinite(numerator)) return format.nan();
  if (format.is_zero(denominator) || format.is_infinite(numerator)) return sign | format.infinity();
  if (format.is_infinite(denominator) || format.is_zero(numerator)) return sign;
  if (kBits > 16 &&
      biased<kBits>(numerator) - biased<kBits>(denominator) < kDivision<kBits>.underflow)
    return sign;
  // The documents list overflow as handled here, without a condition for it. A quotient that
  // overflows before its scaling is undone arrives here as a NaN, and the division must still be
  // right.
  if (kBits > 16 && format.is_nan(quotient)) return sign | format.infinity();
  return sign | (quotient & (format.sign() - 1));
}

// Tuples whose first value is the second or the third one, as in a division. v_div_fixup handles
// infinities and NaNs.
template <int kBits>
std::vector<std::vector<u64>> division_tuples() {
  const Format format = F<kBits>::kKind.format();
  std::vector<std::vector<u64>> tuples;
  for (auto tuple : tuples_of({F<kBits>::kKind, F<kBits>::kKind, F<kBits>::kKind})) {
    tuple[2 - tuples.size() % 2] = tuple[0];
    const bool finite = std::all_of(tuple.begin(), tuple.end(), [&](u64 raw) {
      return (raw & format.infinity()) != format.infinity();
    });
    if (finite) tuples.push_back(std::move(tuple));
  }
  return tuples;
}

// Gives each lane one of the tuples, starting from `first`: three values, in registers from v2 on.
void set_sources(emulator::Bench& bench, const std::vector<std::vector<u64>>& tuples,
                 std::size_t first) {
  for (u32 lane = 0; lane < bench.width(); ++lane) {
    const auto& tuple = tuples[(first + lane) % tuples.size()];
    for (u32 i = 0; i < 3; ++i) bench.set64(2 + 2 * i, lane, tuple[i]);
  }
}

template <int kBits>
Formula division_scale(const std::string& name) {
  return {name, [name] {
            const auto tuples = division_tuples<kBits>();
            constexpr bool kWide = kBits == 64;
            for (const u32 width : {32u, 64u}) {
              emulator::Bench bench(width);
              const std::string text = name + (kWide ? " v[0:1], " : " v0, ") +
                                       (width == 32 ? "vcc_lo" : "vcc") +
                                       (kWide ? ", v[2:3], v[4:5], v[6:7]" : ", v2, v4, v6");
              const auto prepared = bench.prepare(text);
              for (std::size_t first = 0; first < tuples.size(); first += width) {
                set_sources(bench, tuples, first);
                if (prepared) prepared->run(bench.wave());
                const u64 vcc = bench.scalar64(emulator::kVcc);
                for (u32 lane = 0; lane < width; ++lane) {
                  const auto& tuple = tuples[(first + lane) % tuples.size()];
                  const Scaled expected = division_scaled<kBits>(tuple[0], tuple[1], tuple[2]);
                  const u64 got = kWide ? bench.vector64(0, lane) : bench.vector(0, lane);
                  const bool same = is_same(F<kBits>::kKind, got, expected.raw);
                  const auto what = [&] {
                    return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]) + " " +
                           hex(tuple[2]);
                  };
                  if (!hold_equal(same ? expected.raw : got, expected.raw, what)) return;
                  if (!hold_equal(vcc >> lane & 1, expected.flag, [&] { return what() + ": VCC"; }))
                    return;
                }
              }
            }
          }};
}

// v_div_fmas: lanes whose bit of VCC is set undo the scaling, towards the nearer end.
template <int kBits>
Formula division_multiply_add(const std::string& name) {
  return {name, [name] {
            const Format format = F<kBits>::kKind.format();
            const auto tuples = tuples_of({F<kBits>::kKind, F<kBits>::kKind, F<kBits>::kKind});
            constexpr bool kWide = kBits == 64;
            const u64 vcc = 0xf0f0a5a53c3c9669;
            const std::string text =
                name + (kWide ? " v[0:1], v[2:3], v[4:5], v[6:7]" : " v0, v2, v4, v6");
            for (const u32 width : {32u, 64u}) {
              emulator::Bench bench(width);
              bench.set_scalar64(emulator::kVcc, vcc);
              const auto prepared = bench.prepare(text);
              for (std::size_t first = 0; first < tuples.size(); first += width) {
                set_sources(bench, tuples, first);
                if (prepared) prepared->run(bench.wave());
                for (u32 lane = 0; lane < width; ++lane) {
                  const auto& tuple = tuples[(first + lane) % tuples.size()];
                  Real exact = fused(real_of(tuple[0], format), real_of(tuple[1], format),
                                     real_of(tuple[2], format));
                  if ((vcc >> lane & 1) != 0) {
                    const int scale = kDivision<kBits>.scale;
                    const bool up = biased<kBits>(tuple[2]) > format.bias();
                    // A value that overflows before scaling has overflowed.
                    if (format.is_infinite(round_to(exact, format)))
                      exact = real_of(round_to(exact, format), format);
                    exact = exact * power_of_two(up ? scale : -scale);
                  }
                  const u64 expected = round_to(exact, format);
                  const u64 got = kWide ? bench.vector64(0, lane) : bench.vector(0, lane);
                  const bool same = is_same(F<kBits>::kKind, got, expected);
                  if (!hold_equal(same ? expected : got, expected, [&] {
                        return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]) + " " +
                               hex(tuple[2]);
                      }))
                    return;
                }
              }
            }
          }};
}

// ---- v_fma_mix and v_mad_mix: each source is a float or one half of its register

enum class MixResult : u8 { kFloat, kLowHalf, kHighHalf };

Formula mixing(const std::string& name, bool is_fused, MixResult to) {
  return {name, [=] {
            auto tuples = tuples_of({F<32>::kKind, F<32>::kKind, F<32>::kKind});
            const auto halves = tuples_of({F<16>::kKind, F<16>::kKind, F<16>::kKind});
            for (std::size_t i = 0; i < halves.size(); ++i) {
              std::vector<u64> tuple;
              for (std::size_t k = 0; k < 3; ++k)
                tuple.push_back(halves[i][k] | halves[(i + 7) % halves.size()][k] << 16);
              tuples.push_back(std::move(tuple));
            }
            for (const u32 width : {32u, 64u}) {
              emulator::Bench bench(width);
              for (u32 form = 0; form < 64; form += 5) {
                const auto list = [](u32 bits) {
                  return "[" + std::to_string(bits & 1) + "," + std::to_string(bits >> 1 & 1) +
                         "," + std::to_string(bits >> 2 & 1) + "]";
                };
                const u32 upper = form & 7;
                const u32 is_half = form >> 3;
                const bool modified = form % 2 != 0;
                const std::string text = name +
                                         (modified ? " v0, -v1, |v2|, -|v3|" : " v0, v1, v2, v3") +
                                         " op_sel:" + list(upper) + " op_sel_hi:" + list(is_half);
                const auto prepared = bench.prepare(text);
                for (std::size_t first = 0; first < tuples.size(); first += width) {
                  for (u32 lane = 0; lane < width; ++lane) {
                    const auto& tuple = tuples[(first + lane) % tuples.size()];
                    bench.vector(0, lane) = 0xabcd1234;
                    for (u32 i = 0; i < 3; ++i)
                      bench.vector(1 + i, lane) = static_cast<u32>(tuple[i]);
                  }
                  if (prepared) prepared->run(bench.wave());
                  for (u32 lane = 0; lane < width; ++lane) {
                    const auto& tuple = tuples[(first + lane) % tuples.size()];
                    Real source[3];
                    for (u32 i = 0; i < 3; ++i) {
                      const bool half = (is_half >> i & 1) != 0;
                      const u64 part = (upper >> i & 1) != 0 ? tuple[i] >> 16 : tuple[i] & 0xffff;
                      source[i] = half ? real_of(part, kHalf) : real_of(tuple[i], kSingle);
                      if (modified && i != 0) source[i] = magnitude(source[i]);
                      if (modified && i != 1) source[i] = -source[i];
                    }
                    const Real exact = is_fused ? fused(source[0], source[1], source[2])
                                                : unfused<32>(source[0], source[1], source[2]);
                    const u64 single = round_to(exact, kSingle);
                    u64 got = bench.vector(0, lane);
                    u64 expected = single;
                    if (to != MixResult::kFloat) {
                      const bool high = to == MixResult::kHighHalf;
                      if (!hold_equal(high ? got & 0xffff : got >> 16, high ? 0x1234 : 0xabcd,
                                      [&] { return text + ": the other half"; }))
                        return;
                      got = high ? got >> 16 : got & 0xffff;
                      expected = round_to(real_of(single, kSingle), kHalf);
                    }
                    const Kind kind = to == MixResult::kFloat ? F<32>::kKind : F<16>::kKind;
                    const bool same = is_same(kind, got, expected);
                    if (!hold_equal(same ? expected : got, expected, [&] {
                          return text + " of " + hex(tuple[0]) + " " + hex(tuple[1]) + " " +
                                 hex(tuple[2]);
                        }))
                      return;
                  }
                }
              }
            }
          }};
}

// v_trig_preop_f64: the 53 bits of 2/pi that the segment selects, counted from the position that
// `x` needs.
Real bits_of_two_over_pi(u64 x, Wide segment) {
  const int exponent = biased<64>(x);
  int shift = static_cast<int>(segment % 32) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  Real result = 0;
  for (int i = 0; i < 53; ++i) result = result * 2 + two_over_pi_bit(shift + i);
  return result * power_of_two(-53 - shift + (exponent >= 1968 ? 128 : 0));
}

}  // namespace

// clang-format off
Formulas float_formulas() {
  using F16 = F<16>;
  using F32 = F<32>;
  using F64 = F<64>;
  Formulas rows = {
      vector<F32, F32, F32>("v_sub_f32", [](Real a, Real b) { return sum(a, -b); }),
      vector<F32, F32, F32>("v_subrev_f32", [](Real a, Real b) { return sum(b, -a); }),
      vector<F16, F16, F16>("v_sub_f16", [](Real a, Real b) { return sum(a, -b); }),
      vector<F16, F16, F16>("v_subrev_f16", [](Real a, Real b) { return sum(b, -a); }),
      vector<F32, F32, F32>("v_mul_legacy_f32", [](Real a, Real b) { return a == 0 || b == 0 ? Real{0} : a * b; }),
      vector<F32, F32, F32, F32>("v_fma_legacy_f32", legacy),
      vector<F16, F16, F16, F16>("v_mad_legacy_f16", unfused<16>),

      vector<I<32>, F32>("v_frexp_exp_i32_f32", exponent),
      vector<I<32>, F64>("v_frexp_exp_i32_f64", exponent),
      vector<I<16>, F16>("v_frexp_exp_i16_f16", exponent),
      vector<F32, F32, I<32>>("v_ldexp_f32", scaled),
      vector<F64, F64, I<32>>("v_ldexp_f64", scaled),
      vector<F16, F16, I<16>>("v_ldexp_f16", scaled),
      vector<F64, Raw<64>, U<32>>("v_trig_preop_f64", bits_of_two_over_pi),

      flushing("rcp", reciprocal),
      flushing("rcp_iflag", reciprocal),
      flushing("rsq", reciprocal_root),
      flushing("sqrt", root),
      flushing("exp", power),
      flushing("log", logarithm),
      approximate<32>("sin", "f32", sine),
      approximate<32>("cos", "f32", cosine),
      approximate<64>("rcp", "f64", reciprocal),
      approximate<64>("rsq", "f64", reciprocal_root),
      approximate<64>("sqrt", "f64", root),
      approximate<16>("rcp", "f16", reciprocal),
      approximate<16>("rsq", "f16", reciprocal_root),
      approximate<16>("sqrt", "f16", root),
      approximate<16>("exp", "f16", power),
      approximate<16>("log", "f16", logarithm),
      approximate<16>("sin", "f16", sine),
      approximate<16>("cos", "f16", cosine),

      division_scale<32>("v_div_scale_f32"),
      division_scale<64>("v_div_scale_f64"),
      division_multiply_add<32>("v_div_fmas_f32"),
      division_multiply_add<64>("v_div_fmas_f64"),
      vector<Raw<32>, Raw<32>, Raw<32>, Raw<32>>("v_div_fixup_f32", division_fixed<32>),
      vector<Raw<64>, Raw<64>, Raw<64>, Raw<64>>("v_div_fixup_f64", division_fixed<64>),
      vector<Raw<16>, Raw<16>, Raw<16>, Raw<16>>("v_div_fixup_f16", division_fixed<16>, {.keeps_upper = true}),

      mixing("v_fma_mix_f32", true, MixResult::kFloat),
      mixing("v_fma_mixlo_f16", true, MixResult::kLowHalf),
      mixing("v_fma_mixhi_f16", true, MixResult::kHighHalf),
      mixing("v_mad_mix_f32", false, MixResult::kFloat),
      mixing("v_mad_mixlo_f16", false, MixResult::kLowHalf),
      mixing("v_mad_mixhi_f16", false, MixResult::kHighHalf),
  };
  add_for_width<16>(rows, "f16");
  add_for_width<32>(rows, "f32");
  add_for_width<64>(rows, "f64");
  add_products<16>(rows, "f16", "fma", true);
  add_products<32>(rows, "f32", "fma", true);
  add_products<64>(rows, "f64", "fma", true);
  add_products<16>(rows, "f16", "ma", false);
  add_products<32>(rows, "f32", "ma", false);
  return rows;
}
// clang-format on

}  // namespace kiln::formulas
