#include "tests/emulator/formulas/formula.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <iterator>

#include "emulator/fault.hpp"
#include "tests/emulator/bench.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

u64 g_compared = 0;

constexpr u32 kFirstSource = 4;             // sources are two registers apart
constexpr u64 kStale = 0xc0ffee5ac0ffee5a;  // initial content of the destination

// The difference of a run from the simplest form of the instruction.
struct Variant {
  bool negate_and_absolute = false;
  bool clamp = false;
  int scale = 0;  // 1: mul:2, 2: mul:4, 3: div:2
  bool upper_halves = false;
  bool in_place = false;  // the destination is the first source
  u64 active = ~u64{0};
};

// The modifiers of a source, by its position and the number of the tuple, in turns through all four
// combinations.
bool is_negated(const Variant& variant, std::size_t source) {
  return variant.negate_and_absolute && source != 1;
}
bool is_absolute(const Variant& variant, std::size_t source) {
  return variant.negate_and_absolute && source != 0;
}
u64 modified(const Kind& kind, const Variant& variant, std::size_t source, u64 raw) {
  if (!kind.is_float()) return raw;
  if (is_absolute(variant, source)) raw &= ~kind.format().sign();
  if (is_negated(variant, source)) raw ^= kind.format().sign();
  return raw;
}

std::string register_name(u32 first, int count) {
  if (count == 1) return "v" + std::to_string(first);
  return "v[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]";
}

std::string text_of(const VectorFormula& formula, const Variant& variant, u64 literal) {
  const VectorOptions& options = formula.options;
  std::string text = formula.name + " " +
                     register_name(variant.in_place ? kFirstSource : 0, formula.result.registers());
  const std::size_t named = formula.sources.size() - (options.accumulates ? 1 : 0);
  for (std::size_t i = 0; i < named; ++i) {
    const Kind& kind = formula.sources[i];
    text += ", ";
    if (static_cast<int>(i) == options.literal) {
      text += hex(literal);
      continue;
    }
    std::string source = register_name(kFirstSource + 2 * static_cast<u32>(i), kind.registers());
    if (kind.is_float() && is_absolute(variant, i)) source = "|" + source + "|";
    if (kind.is_float() && is_negated(variant, i)) source = "-" + source;
    text += source;
  }
  if (variant.upper_halves) {
    text += " op_sel:[";
    for (std::size_t i = 0; i < named; ++i)
      text += formula.sources[i].is_half_register() ? "1," : "0,";
    text += formula.result.is_half_register() ? "1]" : "0]";
  }
  if (variant.clamp) text += " clamp";
  const char* const scales[] = {"", " mul:2", " mul:4", " div:2"};
  return text + scales[variant.scale];
}

// Applies omod and clamp to a float result.
u64 finished(const Kind& kind, const Variant& variant, u64 raw) {
  const Format format = kind.format();
  const Real factors[] = {1, 2, 4, Real{0.5}};
  if (variant.scale != 0) raw = round_to(real_of(raw, format) * factors[variant.scale], format);
  if (!variant.clamp) return raw;
  if (format.is_nan(raw) || format.is_negative(raw)) return 0;
  return std::min(raw, format.one());
}

class Runner {
 public:
  Runner(const VectorFormula& formula, const std::vector<std::vector<u64>>& tuples, u32 width)
      : formula_(formula), tuples_(tuples), bench_(width), width_(width) {}

  // Returns false if a result was wrong, after reporting it.
  bool run(const Variant& variant) {
    bench_.wave().scalar[emulator::kExec] = static_cast<u32>(variant.active);
    bench_.wave().scalar[emulator::kExec + 1] = static_cast<u32>(variant.active >> 32);
    std::size_t step = width_;
    if (formula_.options.literal >= 0) step = 1;
    std::string text = text_of(formula_, variant, 0);
    auto prepared = bench_.prepare(text);
    for (std::size_t first = 0; first < tuples_.size(); first += step) {
      if (formula_.options.literal >= 0) {
        text = text_of(formula_, variant, literal(first));
        prepared = bench_.prepare(text);
      }
      if (!prepared) {
        FAIL_CHECK(text << ": there is no such instruction, or text");
        return false;
      }
      fill(variant, first);
      prepared->run(bench_.wave());
      for (u32 lane = 0; lane < width_; ++lane) {
        if (!compare(variant, text, first, lane)) return false;
      }
    }
    return true;
  }

 private:
  const std::vector<u64>& tuple(std::size_t first, u32 lane) const {
    if (formula_.options.literal >= 0) return tuples_[(first + lane % 4) % tuples_.size()];
    return tuples_[(first + lane) % tuples_.size()];
  }
  u64 literal(std::size_t first) const {
    return tuples_[first][static_cast<std::size_t>(formula_.options.literal)];
  }
  // Returns a source before modifiers. A literal is the same for all lanes.
  u64 source(std::size_t first, u32 lane, std::size_t i) const {
    return static_cast<int>(i) == formula_.options.literal ? literal(first) : tuple(first, lane)[i];
  }
  // The content of the 16 bits of a register that the instruction does not access.
  static u64 other_half(u32 lane) { return (0x9e37u * (lane + 1)) & 0xffff; }

  void set(u32 reg, u32 lane, const Kind& kind, u64 raw, bool upper) {
    if (kind.is_half_register())
      raw = upper ? raw << 16 | other_half(lane) : raw | other_half(lane) << 16;
    bench_.vector(reg, lane) = static_cast<u32>(raw);
    if (kind.registers() == 2) bench_.vector(reg + 1, lane) = static_cast<u32>(raw >> 32);
  }

  void fill(const Variant& variant, std::size_t first) {
    for (u32 lane = 0; lane < width_; ++lane) {
      bench_.set64(0, lane, kStale + lane);
      for (std::size_t i = 0; i < formula_.sources.size(); ++i) {
        const bool old = formula_.options.accumulates && i + 1 == formula_.sources.size();
        set(old ? 0 : kFirstSource + 2 * static_cast<u32>(i), lane, formula_.sources[i],
            source(first, lane, i), variant.upper_halves);
      }
      if (variant.in_place) before_[lane] = bench_.vector64(kFirstSource, lane);
      if (!variant.in_place) before_[lane] = bench_.vector64(0, lane);
    }
  }

  bool compare(const Variant& variant, const std::string& text, std::size_t first, u32 lane) {
    const Kind& kind = formula_.result;
    const u64 whole = bench_.vector64(variant.in_place ? kFirstSource : 0, lane);
    const u64 before = before_[lane];
    const auto where = [&] {
      std::string what =
          text + ", lane " + std::to_string(lane) + " of " + std::to_string(width_) + ", of";
      for (std::size_t i = 0; i < formula_.sources.size(); ++i)
        what += " " + hex(source(first, lane, i));
      return what;
    };
    if ((variant.active >> lane & 1) == 0)
      return hold_equal(whole, before, [&] { return where() + " (an inactive lane)"; });

    std::array<u64, 3> sources{};
    for (std::size_t i = 0; i < formula_.sources.size(); ++i) {
      const bool old = formula_.options.accumulates && i + 1 == formula_.sources.size();
      const u64 raw = source(first, lane, i);
      sources[i] = old ? raw : modified(formula_.sources[i], variant, i, raw);
    }
    u64 expected = formula_.formula(sources.data(), variant.clamp);
    u64 got = whole;
    u64 rest = 0;  // of the registers, apart from the result
    u64 expected_rest = 0;
    if (kind.bits == 32) {
      rest = whole >> 32;
      expected_rest = before >> 32;
      got = whole & 0xffffffff;
    } else if (kind.is_half_register()) {
      const int shift = variant.upper_halves ? 16 : 0;
      const u64 keep = ~(u64{0xffff} << shift);
      const bool clears = width_ == 64 && !formula_.options.keeps_upper && !variant.upper_halves;
      rest = whole & keep;
      expected_rest = clears ? before & ~u64{0xffffffff} : before & keep;
      got = whole >> shift & 0xffff;
    }
    if (kind.is_float()) {
      // Scaling is not defined for results that are zeros or subnormals.
      if (variant.scale != 0) {
        const u64 scaled = finished(kind, {.scale = variant.scale}, expected);
        const Format format = kind.format();
        if ((expected & format.infinity()) == 0 || (scaled & format.infinity()) == 0) return true;
      }
      expected = finished(kind, variant, expected);
      if (variant.clamp && kind.format().is_zero(got)) got = 0;  // of either sign
    }
    if (!hold_equal(rest, expected_rest, [&] { return where() + " (the rest of the register)"; }))
      return false;
    count_comparison();
    if (is_same(kind, got, expected, formula_.options.ulps)) return true;
    FAIL_CHECK(where() << ": " << hex(got) << ", expected " << hex(expected));
    return false;
  }

  const VectorFormula& formula_;
  const std::vector<std::vector<u64>>& tuples_;
  Bench bench_;
  u32 width_;
  std::array<u64, 64> before_{};
};

std::vector<Variant> variants_of(const VectorFormula& formula, u32 width) {
  const VectorOptions& options = formula.options;
  std::vector<Variant> variants = {{}, {.active = 0x5a5a0ff0f00fa5c3}};
  if (!options.accumulates) variants.push_back({.in_place = true});
  if (options.literal >= 0) return variants;
  const bool has_float = std::any_of(formula.sources.begin(), formula.sources.end(),
                                     [](const Kind& kind) { return kind.is_float(); });
  if (options.has_modifiers && has_float) variants.push_back({.negate_and_absolute = true});
  if (options.has_modifiers && formula.result.is_float()) {
    variants.push_back({.clamp = true});
    for (const int scale : {1, 2, 3}) variants.push_back({.scale = scale});
  }
  if (options.clamps) variants.push_back({.clamp = true});
  const auto has_half = [](const Kind& kind) { return kind.is_half_register(); };
  const bool halves = has_half(formula.result) ||
                      std::any_of(formula.sources.begin(), formula.sources.end(), has_half);
  // gfx11 selects halves of registers; gfx9 uses SDWA instead.
  if (halves && options.selects_halves && !options.accumulates && width == 32)
    variants.push_back({.upper_halves = true});
  return variants;
}

}  // namespace

u64 compared() { return g_compared; }
void count_comparison() { ++g_compared; }
bool hold_equal(u64 got, u64 expected, const std::function<std::string()>& what) {
  ++g_compared;
  if (got == expected) return true;
  FAIL_CHECK(what() << ": " << hex(got) << ", expected " << hex(expected));
  return false;
}

std::string hex(u64 x) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[x % 16]);
    x /= 16;
  } while (x != 0);
  return "0x" + digits;
}

void hold_all(const Formulas& formulas) {
  for (const Formula& formula : formulas) {
    const u64 before = compared();
    try {
      formula.hold();
    } catch (const emulator::Fault& fault) {
      FAIL_CHECK(formula.name << ": " << fault.message);
    }
    if (compared() == before) FAIL_CHECK(formula.name << ": its formula compared nothing");
  }
}

Formulas all_formulas() {
  Formulas all;
  for (const auto group :
       {bit_formulas, integer_formulas, float_formulas, conversion_formulas, packed_formulas,
        matrix_formulas, comparison_formulas, lane_formulas, scalar_formulas, control_formulas,
        memory_formulas, atomic_formulas, lds_formulas}) {
    Formulas formulas = group();
    std::move(formulas.begin(), formulas.end(), std::back_inserter(all));
  }
  return all;
}

bool is_same(const Kind& kind, u64 got, u64 expected, u64 ulps) {
  if (got == expected) return true;
  if (!kind.is_float()) return false;
  const Format format = kind.format();
  if (format.is_nan(got) || format.is_nan(expected))
    return format.is_nan(got) && format.is_nan(expected);
  if (ulps == 0 || format.is_negative(got) != format.is_negative(expected)) return false;
  return std::max(got, expected) - std::min(got, expected) <= ulps;
}

std::vector<u64> edges_of(const Kind& kind) {
  std::vector<u64> edges;
  const auto add = [&](u64 x) {
    x = low_bits(static_cast<Wide>(x), kind.bits);
    if (std::find(edges.begin(), edges.end(), x) == edges.end()) edges.push_back(x);
  };
  if (!kind.is_float()) {
    for (const u64 x : {0u, 1u, 2u, 3u, 7u, 15u, 16u, 24u, 31u, 32u, 33u, 63u, 64u}) add(x);
    for (const int bit : {7, 8, 15, 16, 23, 24, 31, 32, 62, 63}) {
      if (bit >= kind.bits) continue;
      add((u64{1} << bit) - 1);
      add(u64{1} << bit);
      add((u64{1} << bit) + 1);
    }
    add(~u64{0});
    add(~u64{1});
    add(~u64{0} << (kind.bits / 2));
    add(0x123456789abcdef0);
    add(0xdeadbeefdeadbeef);
    add(0x5555555555555555);
    add(u64{0x8001} << (kind.bits / 2));
    return edges;
  }
  const Format format = kind.format();
  const u64 least = u64{1} << format.fraction;  // the smallest normal value
  const auto integer = [&](int log) {
    return static_cast<u64>(format.bias() + log) << format.fraction;
  };
  const u64 one = format.one();
  std::vector<u64> positive = {0,
                               1,
                               2,
                               least - 1,
                               least,
                               least + 1,
                               2 * least,
                               one - 1,
                               one,
                               one + 1,
                               one + least / 2,  // 1.5
                               one + least,
                               one + least + least / 4,  // 2.5
                               one - least,              // 0.5
                               one - least + 1,
                               one - 2 * least - 1,
                               integer(format.fraction - 1) + 1,  // an integer plus a half
                               integer(format.fraction) + 1,
                               integer(format.fraction + 1) + 1,
                               integer(4) + least / 3,
                               integer(7) + 5,
                               integer(8) - 1,
                               integer(15) - 1,
                               integer(15),
                               format.infinity() - 1,  // the largest finite value
                               format.infinity() - least,
                               format.infinity(),
                               format.infinity() + 1,  // a signalling NaN
                               format.nan()};
  if (kind.bits > 16) {
    for (const int log : {16, 31, 32, 63, 64}) positive.push_back(integer(log));
    positive.push_back(integer(31) - 1);
    positive.push_back(integer(32) - 1);
  }
  for (const u64 x : positive) {
    add(x);
    add(x | format.sign());
  }
  return edges;
}

std::vector<std::vector<u64>> tuples_of(const std::vector<Kind>& kinds,
                                        const std::vector<std::vector<u64>>& values) {
  std::vector<std::vector<u64>> edges;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    edges.push_back(i < values.size() && !values[i].empty() ? values[i] : edges_of(kinds[i]));
  std::vector<std::vector<u64>> tuples;
  const std::size_t seconds = kinds.size() > 1 ? edges[1].size() : 1;
  for (std::size_t a = 0; a < edges[0].size(); ++a) {
    for (std::size_t b = 0; b < seconds; ++b) {
      std::vector<u64> tuple = {edges[0][a]};
      if (kinds.size() > 1) tuple.push_back(edges[1][b]);
      if (kinds.size() > 2) tuple.push_back(edges[2][(7 * b + 3 * a) % edges[2].size()]);
      tuples.push_back(std::move(tuple));
    }
  }
  u64 state = 20;
  for (int i = 0; i < 600; ++i) {
    std::vector<u64> tuple;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      u64 x = low_bits(static_cast<Wide>(next_random(state)), kinds[k].bits);
      if (kinds[k].is_float() && i % 4 != 0) {  // mostly near 1, where sums and products interact
        const Format format = kinds[k].format();
        const int exponent = format.bias() + static_cast<int>(next_random(state) % 16) - 8;
        x = (x & ~format.infinity()) | static_cast<u64>(exponent) << format.fraction;
      }
      if (k < values.size() && !values[k].empty()) x = values[k][x % values[k].size()];
      tuple.push_back(x);
    }
    tuples.push_back(std::move(tuple));
  }
  // For a single 16-bit source, every value.
  if (kinds.size() == 1 && kinds[0].bits == 16 && values.empty()) {
    tuples.clear();
    for (u64 x = 0; x < 0x10000; ++x) tuples.push_back({x});
  }
  return tuples;
}

void hold_vector(const VectorFormula& formula) {
  const auto tuples = tuples_of(formula.sources, formula.options.values);
  for (const u32 width : formula.options.widths) {
    Runner runner(formula, tuples, width);
    for (const Variant& variant : variants_of(formula, width)) {
      if (!runner.run(variant)) return;
    }
  }
}

}  // namespace kiln::formulas
