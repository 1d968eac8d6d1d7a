// Comparisons: every predicate of every type, written to a mask and to the active lanes.
#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

// The relation of two values: exactly one of these is true.
enum Relation : u8 { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

struct Predicate {
  const char* name;
  int true_of;  // a set of relations
};
// The predicates of IEEE 754. Those that begin with n are the negations, which are also true for
// NaNs.
constexpr Predicate kOfFloats[] = {
    {"f", 0},
    {"lt", kLess},
    {"eq", kEqual},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"lg", kLess | kGreater},
    {"ge", kGreater | kEqual},
    {"o", kLess | kEqual | kGreater},
    {"u", kUnordered},
    {"nge", kLess | kUnordered},
    {"nlg", kEqual | kUnordered},
    {"ngt", kLess | kEqual | kUnordered},
    {"nle", kGreater | kUnordered},
    {"neq", kLess | kGreater | kUnordered},
    {"nlt", kGreater | kEqual | kUnordered},
    {"tru", kLess | kEqual | kGreater | kUnordered},
    {"t", kLess | kEqual | kGreater | kUnordered},
};
constexpr Predicate kOfIntegers[] = {
    {"f", 0},
    {"lt", kLess},
    {"eq", kEqual},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ne", kLess | kGreater},
    {"ge", kGreater | kEqual},
    {"t", kLess | kEqual | kGreater},
};

struct Type {
  const char* name;
  Kind kind;
};
constexpr Type kTypes[] = {
    {"f16", F<16>::kKind}, {"f32", F<32>::kKind}, {"f64", F<64>::kKind},
    {"i16", I<16>::kKind}, {"i32", I<32>::kKind}, {"i64", I<64>::kKind},
    {"u16", U<16>::kKind}, {"u32", U<32>::kKind}, {"u64", U<64>::kKind},
};

template <typename T>
int relation(T a, T b) {
  return a < b ? kLess : a > b ? kGreater : a == b ? kEqual : kUnordered;
}
int relation_of(const Kind& kind, u64 a, u64 b) {
  if (kind.is_float()) return relation(real_of(a, kind.format()), real_of(b, kind.format()));
  if (kind.meaning == Kind::kUnsigned) return relation(a, b);
  return relation(sign_extended(a, kind.bits), sign_extended(b, kind.bits));
}

// The ten classes of floats, by the number of the bit that selects the class.
int class_of(const Format& format, u64 raw) {
  const bool negative = format.is_negative(raw);
  if (format.is_signalling(raw)) return 0;
  if (format.is_nan(raw)) return 1;
  if (format.is_infinite(raw)) return negative ? 2 : 9;
  if (format.is_zero(raw)) return negative ? 5 : 6;
  if (format.is_subnormal(raw)) return negative ? 4 : 7;
  return negative ? 3 : 8;
}

enum class Encoding : u8 { kShort, kLong };

struct Comparison {
  std::string name;
  Kind first;
  Kind second;
  std::function<bool(u64 a, u64 b)> holds;
  bool writes_exec;
};

// Returns the mask that a comparison writes, as in its text; empty if it writes only EXEC.
std::string mask_of(const Comparison& comparison, u32 width, Encoding encoding) {
  // From gfx10 on, v_cmpx writes only EXEC; on gfx9 it also writes a mask.
  if (comparison.writes_exec && width == 32) return "";
  if (encoding == Encoding::kShort) return width == 32 ? "vcc_lo, " : "vcc, ";
  return width == 32 ? "s6, " : "s[6:7], ";
}

void hold_comparison(const Comparison& comparison) {
  const auto tuples = tuples_of({comparison.first, comparison.second});
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (const Encoding encoding : {Encoding::kShort, Encoding::kLong}) {
      for (const bool modified : {false, true}) {
        const bool is_short = encoding == Encoding::kShort;
        if (modified && (is_short || !comparison.first.is_float())) continue;
        const auto source = [&](u32 reg, const Kind& kind) {
          return kind.bits == 64 ? "v[" + std::to_string(reg) + ":" + std::to_string(reg + 1) + "]"
                                 : "v" + std::to_string(reg);
        };
        std::string a = source(4, comparison.first);
        if (modified) a = "-|" + a + "|";
        const std::string mask = mask_of(comparison, width, encoding);
        const std::string text = comparison.name + (is_short ? "_e32 " : "_e64 ") + mask + a +
                                 ", " + source(6, comparison.second);
        const auto prepared = bench.prepare(text);
        for (std::size_t first = 0; first < tuples.size(); first += width) {
          const u64 before = first % 3 == 0 ? ~u64{0} : 0xf0c3a5967e81ff00;
          const u64 active = width == 32 ? before & 0xffffffff : before;
          bench.set_scalar64(emulator::kExec, before);
          bench.set_scalar64(6, 0x1111);
          bench.set_scalar64(emulator::kVcc, 0x2222);
          u64 expected = 0;
          for (u32 lane = 0; lane < width; ++lane) {
            const auto& tuple = tuples[(first + lane) % tuples.size()];
            // For 16 bits, the upper half is not part of the value.
            const u64 other = comparison.first.bits == 16 ? 0xbeef0000 : 0;
            const u64 other_second = comparison.second.bits == 16 ? 0xdead0000 : 0;
            bench.set64(4, lane, tuple[0] | other);
            bench.set64(6, lane, tuple[1] | other_second);
            const u64 sign = modified ? comparison.first.format().sign() : 0;
            if (comparison.holds(tuple[0] | sign, tuple[1]) && (active >> lane & 1) != 0)
              expected |= u64{1} << lane;
          }
          if (prepared) prepared->run(bench.wave());
          const auto read = [&](u32 reg) {
            return width == 32 ? u64{bench.scalar(reg)} : bench.scalar64(reg);
          };
          const auto what = [&](const char* where) {
            return [&, where] {
              return text + ", tuples from " + std::to_string(first) + ": " + where;
            };
          };
          const bool to_vcc = !mask.empty() && is_short;
          const bool to_mask = !mask.empty() && !is_short;
          if (!hold_equal(read(emulator::kVcc), to_vcc ? expected : 0x2222, what("VCC"))) return;
          if (!hold_equal(read(6), to_mask ? expected : 0x1111, what("the mask"))) return;
          const u64 exec = comparison.writes_exec ? expected : active;
          if (!hold_equal(read(emulator::kExec), exec, what("EXEC"))) return;
        }
      }
    }
  }
}

void add(Formulas& rows, const std::string& name, const Kind& first, const Kind& second,
         const std::function<bool(u64, u64)>& holds) {
  for (const bool writes_exec : {false, true}) {
    Comparison comparison{(writes_exec ? "v_cmpx_" : "v_cmp_") + name, first, second, holds,
                          writes_exec};
    rows.push_back({comparison.name, [comparison] { hold_comparison(comparison); }});
  }
}

}  // namespace

Formulas comparison_formulas() {
  Formulas rows;
  for (const Type& type : kTypes) {
    const Kind kind = type.kind;
    const auto add_predicate = [&](const Predicate& predicate) {
      const int true_of = predicate.true_of;
      add(rows, std::string(predicate.name) + "_" + type.name, kind, kind,
          [=](u64 a, u64 b) { return (relation_of(kind, a, b) & true_of) != 0; });
    };
    if (kind.is_float()) {
      for (const Predicate& predicate : kOfFloats) add_predicate(predicate);
      add(rows, "class_" + std::string(type.name), kind, U<32>::kKind,
          [=](u64 a, u64 classes) { return (classes >> class_of(kind.format(), a) & 1) != 0; });
    } else {
      for (const Predicate& predicate : kOfIntegers) add_predicate(predicate);
    }
  }
  return rows;
}

}  // namespace kiln::formulas
