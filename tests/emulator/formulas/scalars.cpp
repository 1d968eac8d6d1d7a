// Scalar instructions: one value for the whole wave, and SCC.
#include <algorithm>
#include <array>
#include <optional>

#include "tests/emulator/bench.hpp"
#include "tests/emulator/formulas/formula.hpp"

namespace kiln::formulas {
namespace {

using emulator::Bench;

// The state before an instruction.
struct Before {
  std::array<u64, 3> source{};  // s12, s14 and s16, or s[12:13] and so on
  u64 destination = 0;          // s10, or s[10:11]
  bool scc = false;
  u64 exec = 0;
};
// The state after an instruction. Members that are not set do not change.
struct After {
  std::optional<u64> destination;
  std::optional<bool> scc;
  std::optional<u64> exec;
};

struct ScalarOptions {
  bool has_destination = true;
  int literal = -1;  // index of the source that is a 16-bit number in the text
};

struct ScalarFormula {
  std::string name;
  Kind result;
  std::vector<Kind> sources;
  std::function<After(const Before&)> formula;
  ScalarOptions options;
};

std::string register_name(u32 first, const Kind& kind) {
  if (kind.bits != 64) return "s" + std::to_string(first);
  return "s[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]";
}

void hold_scalar(const ScalarFormula& formula) {
  std::vector<Kind> kinds = formula.sources;
  kinds.push_back(formula.result);  // the old value of the destination
  if (kinds.size() > 3) kinds.resize(3);
  const auto tuples = tuples_of(kinds);
  for (const u32 width : {32u, 64u}) {
    Bench bench(width);
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      Before before;
      std::string text = formula.name;
      const char* separator = " ";
      if (formula.options.has_destination) {
        text += separator + register_name(10, formula.result);
        separator = ", ";
      }
      for (std::size_t k = 0; k < formula.sources.size(); ++k) {
        before.source[k] = k < 3 && k < kinds.size() ? tuples[i][k] : 0;
        if (static_cast<int>(k) == formula.options.literal) {
          before.source[k] &= 0xffff;
          text += separator + hex(before.source[k]);
        } else {
          text += separator + register_name(12 + 2 * static_cast<u32>(k), formula.sources[k]);
        }
        separator = ", ";
        bench.set_scalar64(
            12 + 2 * static_cast<u32>(k),
            before.source[k] | (formula.sources[k].bits != 64 ? 0x7777ull << 32 : 0));
      }
      before.destination = tuples[i].back();
      before.scc = i % 2 != 0;
      before.exec = 0xf0f1e2d3c4b5a697 * (i + 1);
      bench.set_scalar64(10, before.destination);
      bench.wave().scc = before.scc;
      bench.set_scalar64(emulator::kExec, before.exec);
      const bool known = bench.run(text);
      const After after = formula.formula(before);
      const auto what = [&](const char* part) {
        return [&, part] {
          std::string result = text;
          for (const u64 source : before.source) result += " " + hex(source);
          return result + ", destination " + hex(before.destination) +
                 (before.scc ? ", SCC: " : ": ") + part;
        };
      };
      if (!hold_equal(known, true, what("there is no such instruction"))) return;
      const u64 whole = bench.scalar64(10);
      const u64 expected = after.destination.value_or(before.destination);
      if (formula.result.is_float()) {
        const bool same = is_same(formula.result, whole & 0xffffffff, expected);
        if (!hold_equal(same ? expected : whole, expected, what("the result"))) return;
      } else if (formula.result.bits == 64) {
        if (!hold_equal(whole, expected, what("the result"))) return;
      } else {
        if (!hold_equal(whole & 0xffffffff, low_bits(static_cast<Wide>(expected), 32),
                        what("the result")))
          return;
        if (!hold_equal(whole >> 32, before.destination >> 32, what("the register after"))) return;
      }
      if (!hold_equal(bench.wave().scc, after.scc.value_or(before.scc), what("SCC"))) return;
      if (!hold_equal(bench.scalar64(emulator::kExec), after.exec.value_or(before.exec),
                      what("EXEC")))
        return;
    }
  }
}

Formula row(ScalarFormula formula) {
  std::string name = formula.name;
  return {std::move(name), [formula = std::move(formula)] { hold_scalar(formula); }};
}

// ---- rows that are one function of their sources

enum class Scc : u8 { kKept, kResultIsNotZero };

template <Scc kScc, typename D, typename... S, typename Function, std::size_t... kIndex>
Formula make_function(std::string name, Function function, ScalarOptions options,
                      std::index_sequence<kIndex...>) {
  return row({std::move(name),
              D::kKind,
              {S::kKind...},
              [function](const Before& before) {
                const u64 result = D::encode(function(S::decode(before.source[kIndex])...), false);
                After after{result, std::nullopt, std::nullopt};
                if (kScc == Scc::kResultIsNotZero) after.scc = result != 0;
                return after;
              },
              options});
}
// Does not change SCC.
template <typename D, typename... S, typename Function>
Formula value(std::string name, Function function, ScalarOptions options = {}) {
  return make_function<Scc::kKept, D, S...>(std::move(name), function, options,
                                            std::index_sequence_for<S...>{});
}
// SCC becomes 1 if the result is not zero, otherwise 0.
template <typename D, typename... S, typename Function>
Formula logic(std::string name, Function function) {
  return make_function<Scc::kResultIsNotZero, D, S...>(std::move(name), function, {},
                                                       std::index_sequence_for<S...>{});
}
// SCC becomes 1 if the exact result is outside of the range of the type.
template <typename T>
Formula overflowing(std::string name, Wide (*function)(Wide a, Wide b, Wide scc)) {
  return row({std::move(name),
              T::kKind,
              {T::kKind, T::kKind},
              [function](const Before& before) {
                const Wide exact =
                    function(T::decode(before.source[0]), T::decode(before.source[1]), before.scc);
                const u64 result = T::encode(exact, false);
                return After{result, T::decode(result) != exact, std::nullopt};
              },
              {}});
}
// SCC becomes 1 if the first source was chosen.
template <typename T>
Formula choosing(std::string name, bool (*first)(Wide a, Wide b)) {
  return row({std::move(name),
              T::kKind,
              {T::kKind, T::kKind},
              [first](const Before& before) {
                const bool chosen = first(T::decode(before.source[0]), T::decode(before.source[1]));
                return After{before.source[chosen ? 0 : 1], chosen, std::nullopt};
              },
              {}});
}
// The result goes to SCC.
template <typename A, typename B, typename Function>
Formula compares(std::string name, Function function, int literal = -1) {
  return row({std::move(name),
              U<32>::kKind,
              {A::kKind, B::kKind},
              [function](const Before& before) {
                return After{std::nullopt,
                             function(A::decode(before.source[0]), B::decode(before.source[1])),
                             std::nullopt};
              },
              {.has_destination = false, .literal = literal}});
}

// ---- families

struct Logic {
  const char* name;
  u64 (*of)(u64 a, u64 b);
};
constexpr Logic kLogic[] = {
    {"and", [](u64 a, u64 b) { return a & b; }},
    {"or", [](u64 a, u64 b) { return a | b; }},
    {"xor", [](u64 a, u64 b) { return (a | b) & ~(a & b); }},
    {"and_not1", [](u64 a, u64 b) { return a & ~b; }},
    {"or_not1", [](u64 a, u64 b) { return a | ~b; }},
    {"nand", [](u64 a, u64 b) { return ~a | ~b; }},
    {"nor", [](u64 a, u64 b) { return ~a & ~b; }},
    {"xnor", [](u64 a, u64 b) { return (a & b) | ~(a | b); }},
};
constexpr Logic kOfExec[] = {
    {"and_not0", [](u64 a, u64 exec) { return ~a & exec; }},
    {"or_not0", [](u64 a, u64 exec) { return ~a | exec; }},
};

template <int kBits>
u64 cut(u64 x) {
  return low_bits(static_cast<Wide>(x), kBits);
}

// s_<name>_saveexec: EXEC goes to the destination, and the result goes to EXEC. s_<name>_wrexec:
// the result goes to both.
template <int kBits>
Formula on_exec(const Logic& logic, bool saves) {
  const std::string name = "s_" + std::string(logic.name) + (saves ? "_saveexec_b" : "_wrexec_b");
  const auto of = logic.of;
  return row({name + std::to_string(kBits),
              U<kBits>::kKind,
              {U<kBits>::kKind},
              [of, saves](const Before& before) {
                const u64 result = cut<kBits>(of(before.source[0], before.exec));
                const u64 upper = kBits == 64 ? 0 : before.exec >> 32 << 32;
                return After{saves ? cut<kBits>(before.exec) : result, result != 0, upper | result};
              },
              {}});
}

template <int kBits>
void add_for_width(Formulas& rows) {
  using T = U<kBits>;
  using S = I<kBits>;
  const std::string bits = std::to_string(kBits);
  for (const Logic& entry : kLogic) {
    const auto of = entry.of;
    rows.push_back(
        logic<T, T, T>("s_" + std::string(entry.name) + "_b" + bits, [of](Wide a, Wide b) {
          return static_cast<Wide>(of(static_cast<u64>(a), static_cast<u64>(b)));
        }));
    rows.push_back(on_exec<kBits>(entry, true));
    if (entry.name == std::string("and_not1")) rows.push_back(on_exec<kBits>(entry, false));
  }
  for (const Logic& entry : kOfExec) {
    rows.push_back(on_exec<kBits>(entry, true));
    if (entry.name == std::string("and_not0")) rows.push_back(on_exec<kBits>(entry, false));
  }
  rows.push_back(logic<T, T>("s_not_b" + bits, [](Wide a) { return ~a; }));
  rows.push_back(value<T, T>("s_mov_b" + bits, [](Wide a) { return a; }));
  rows.push_back(value<T, T>("s_brev_b" + bits, [](Wide a) {
    Wide result = 0;
    for (int i = 0; i < kBits; ++i) result = 2 * result + (a >> i) % 2;
    return result;
  }));
  rows.push_back(logic<T, T, U<32>>("s_lshl_b" + bits, [](Wide a, Wide n) {
    return static_cast<Wide>(static_cast<UnsignedWide>(a) << (n % kBits));
  }));
  rows.push_back(
      logic<T, T, U<32>>("s_lshr_b" + bits, [](Wide a, Wide n) { return a >> (n % kBits); }));
  rows.push_back(
      logic<S, S, U<32>>("s_ashr_i" + bits, [](Wide a, Wide n) { return a >> (n % kBits); }));
  // The second source of s_bfe has the offset in its low bits and the size from bit 16 on.
  const auto size_of = [](Wide where) {
    return static_cast<int>(std::min<Wide>(where >> 16 & 127, kBits));
  };
  rows.push_back(logic<T, T, U<32>>("s_bfe_u" + bits, [size_of](Wide a, Wide where) {
    return (a >> (where % kBits)) & ((Wide{1} << size_of(where)) - 1);
  }));
  rows.push_back(logic<S, S, U<32>>("s_bfe_i" + bits, [size_of](Wide a, Wide where) {
    const int size = size_of(where);
    return size == 0 ? 0 : sign_extended(static_cast<u64>(a >> (where % kBits)), size);
  }));
  rows.push_back(value<T, U<32>, U<32>>("s_bfm_b" + bits, [](Wide size, Wide offset) {
    return static_cast<Wide>(static_cast<UnsignedWide>((Wide{1} << (size % kBits)) - 1)
                             << (offset % kBits));
  }));
  const auto ones = [](Wide a) {
    Wide count = 0;
    for (int i = 0; i < kBits; ++i) count += (a >> i) % 2;
    return count;
  };
  rows.push_back(logic<U<32>, T>("s_bcnt1_i32_b" + bits, ones));
  rows.push_back(
      logic<U<32>, T>("s_bcnt0_i32_b" + bits, [ones](Wide a) { return kBits - ones(a); }));
  rows.push_back(value<U<32>, T>("s_ctz_i32_b" + bits, [](Wide a) {
    for (int i = 0; i < kBits; ++i) {
      if ((a >> i) % 2 == 1) return i;
    }
    return -1;
  }));
  rows.push_back(value<U<32>, T>("s_clz_i32_u" + bits, [](Wide a) {
    for (int i = 0; i < kBits; ++i) {
      if ((a >> (kBits - 1 - i)) % 2 == 1) return i;
    }
    return -1;
  }));
  rows.push_back(value<U<32>, T>(kBits == 32 ? "s_cls_i32" : "s_cls_i32_i64", [](Wide a) {
    for (int i = 1; i < kBits; ++i) {
      if ((a >> (kBits - 1 - i)) % 2 != a >> (kBits - 1)) return i;
    }
    return -1;
  }));
  rows.push_back(logic<T, T>("s_wqm_b" + bits, [](Wide a) {
    Wide result = 0;
    for (int quad = 0; quad < kBits; quad += 4) {
      if ((a >> quad & 15) != 0) result |= Wide{15} << quad;
    }
    return result;
  }));
  for (const bool one : {false, true}) {
    rows.push_back(row({(one ? "s_bitset1_b" : "s_bitset0_b") + bits,
                        T::kKind,
                        {U<32>::kKind},
                        [one](const Before& before) {
                          const u64 bit = u64{1} << before.source[0] % kBits;
                          return After{one ? before.destination | bit : before.destination & ~bit,
                                       std::nullopt, std::nullopt};
                        },
                        {}}));
    rows.push_back(
        compares<T, U<32>>((one ? "s_bitcmp1_b" : "s_bitcmp0_b") + bits,
                           [one](Wide a, Wide n) { return (a >> (n % kBits)) % 2 == one; }));
  }
  rows.push_back(row({"s_cmov_b" + bits,
                      T::kKind,
                      {T::kKind},
                      [](const Before& before) {
                        return After{before.scc ? before.source[0] : before.destination,
                                     std::nullopt, std::nullopt};
                      },
                      {}}));
  rows.push_back(row({"s_cselect_b" + bits,
                      T::kKind,
                      {T::kKind, T::kKind},
                      [](const Before& before) {
                        return After{before.source[before.scc ? 0 : 1], std::nullopt, std::nullopt};
                      },
                      {}}));
}

struct Predicate {
  const char* name;
  bool (*of)(Wide a, Wide b);
};
constexpr Predicate kPredicates[] = {
    {"eq", [](Wide a, Wide b) { return a == b; }}, {"lg", [](Wide a, Wide b) { return a != b; }},
    {"gt", [](Wide a, Wide b) { return a > b; }},  {"ge", [](Wide a, Wide b) { return a >= b; }},
    {"lt", [](Wide a, Wide b) { return a < b; }},  {"le", [](Wide a, Wide b) { return a <= b; }},
};
struct FloatPredicate {
  const char* name;
  bool (*of)(Real a, Real b);
};
constexpr FloatPredicate kFloatPredicates[] = {
    {"lt", [](Real a, Real b) { return a < b; }},
    {"eq", [](Real a, Real b) { return a == b; }},
    {"le", [](Real a, Real b) { return a <= b; }},
    {"gt", [](Real a, Real b) { return a > b; }},
    {"lg", [](Real a, Real b) { return a < b || a > b; }},
    {"ge", [](Real a, Real b) { return a >= b; }},
    {"o", [](Real a, Real b) { return !is_nan(a) && !is_nan(b); }},
    {"u", [](Real a, Real b) { return is_nan(a) || is_nan(b); }},
    {"nge", [](Real a, Real b) { return !(a >= b); }},
    {"nlg", [](Real a, Real b) { return !(a < b || a > b); }},
    {"ngt", [](Real a, Real b) { return !(a > b); }},
    {"nle", [](Real a, Real b) { return !(a <= b); }},
    {"neq", [](Real a, Real b) { return !(a == b); }},
    {"nlt", [](Real a, Real b) { return !(a < b); }},
};

// The smaller or the larger of two floats. A number is preferred to a NaN, and -0 < +0.
u64 float_of_two(u64 a, u64 b, bool greater) {
  if (kSingle.is_signalling(a) || kSingle.is_signalling(b)) return kSingle.nan();
  if (kSingle.is_nan(b)) return a;
  if (kSingle.is_nan(a)) return b;
  const Real x = real_of(a, kSingle);
  const Real y = real_of(b, kSingle);
  if (x == y) return greater ? a & b : a | b;
  return (x > y) == greater ? a : b;
}

// s_fmac adds to the destination; s_fmaak and s_fmamk have a literal, which is a register here.
Formula multiply_add(std::string name, bool accumulates, int factor) {
  using T = F<32>;
  std::vector<Kind> sources = {T::kKind, T::kKind};
  if (!accumulates) sources.push_back(T::kKind);
  return row(
      {std::move(name),
       T::kKind,
       sources,
       [=](const Before& before) {
         const auto at = [&](int i) {
           return T::decode(before.source[static_cast<std::size_t>(i)]);
         };
         const Real term = accumulates ? T::decode(before.destination) : at(3 - factor);
         return After{T::encode(sum(at(0) * at(factor), term), false), std::nullopt, std::nullopt};
       },
       {}});
}

}  // namespace

// clang-format off
Formulas scalar_formulas() {
  using U32 = U<32>;
  using I32 = I<32>;
  using U64 = U<64>;
  using I16 = I<16>;
  using U16 = U<16>;
  using F32 = F<32>;
  Formulas rows = {
      overflowing<U32>("s_add_u32", [](Wide a, Wide b, Wide) { return a + b; }),
      overflowing<U32>("s_addc_u32", [](Wide a, Wide b, Wide carry) { return a + b + carry; }),
      overflowing<U32>("s_sub_u32", [](Wide a, Wide b, Wide) { return a - b; }),
      overflowing<U32>("s_subb_u32", [](Wide a, Wide b, Wide carry) { return a - b - carry; }),
      overflowing<I32>("s_add_i32", [](Wide a, Wide b, Wide) { return a + b; }),
      overflowing<I32>("s_sub_i32", [](Wide a, Wide b, Wide) { return a - b; }),
      overflowing<U32>("s_lshl1_add_u32", [](Wide a, Wide b, Wide) { return 2 * a + b; }),
      overflowing<U32>("s_lshl2_add_u32", [](Wide a, Wide b, Wide) { return 4 * a + b; }),
      overflowing<U32>("s_lshl3_add_u32", [](Wide a, Wide b, Wide) { return 8 * a + b; }),
      overflowing<U32>("s_lshl4_add_u32", [](Wide a, Wide b, Wide) { return 16 * a + b; }),
      choosing<I32>("s_min_i32", [](Wide a, Wide b) { return a < b; }),
      choosing<U32>("s_min_u32", [](Wide a, Wide b) { return a < b; }),
      choosing<I32>("s_max_i32", [](Wide a, Wide b) { return a >= b; }),
      choosing<U32>("s_max_u32", [](Wide a, Wide b) { return a >= b; }),
      value<U32, U32, U32>("s_mul_i32", [](Wide a, Wide b) { return a * b; }),
      value<U32, U32, U32>("s_mul_hi_u32", [](Wide a, Wide b) { return (a * b) >> 32; }),
      value<I32, I32, I32>("s_mul_hi_i32", [](Wide a, Wide b) { return (a * b) >> 32; }),
      value<U64, U64, U64>("s_add_nc_u64", [](Wide a, Wide b) { return a + b; }),
      value<U64, U64, U64>("s_sub_nc_u64", [](Wide a, Wide b) { return a - b; }),
      value<U64, U64, U64>("s_mul_u64", [](Wide a, Wide b) { return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)); }),
      logic<I32, I32>("s_abs_i32", [](Wide a) { return a < 0 ? -a : a; }),
      // The difference is truncated to 32 bits before its sign is examined.
      logic<I32, I32, I32>("s_absdiff_i32", [](Wide a, Wide b) { const Wide d = sign_extended(low_bits(a - b, 32), 32); return d < 0 ? -d : d; }),

      value<U32, I16>("s_movk_i32", [](Wide a) { return a; }, {.literal = 0}),
      row({"s_cmovk_i32", U32::kKind, {I16::kKind}, [](const Before& before) { return After{before.scc ? U32::encode(I16::decode(before.source[0]), false) : before.destination, std::nullopt, std::nullopt}; }, {.literal = 0}}),
      row({"s_addk_i32", I32::kKind, {I16::kKind}, [](const Before& before) { const Wide exact = I32::decode(before.destination) + I16::decode(before.source[0]); const u64 result = I32::encode(exact, false); return After{result, I32::decode(result) != exact, std::nullopt}; }, {.literal = 0}}),
      row({"s_mulk_i32", I32::kKind, {I16::kKind}, [](const Before& before) { return After{I32::encode(I32::decode(before.destination) * I16::decode(before.source[0]), false), std::nullopt, std::nullopt}; }, {.literal = 0}}),

      value<U32, U32>("s_ff0_i32_b32", [](Wide a) { for (int i = 0; i < 32; ++i) { if ((a >> i) % 2 == 0) return i; } return -1; }),
      value<I32, U32>("s_sext_i32_i8", [](Wide a) { return sign_extended(static_cast<u64>(a), 8); }),
      value<I32, U32>("s_sext_i32_i16", [](Wide a) { return sign_extended(static_cast<u64>(a), 16); }),
      value<U32, U32, U32>("s_pack_ll_b32_b16", [](Wide a, Wide b) { return a % 65536 + b % 65536 * 65536; }),
      value<U32, U32, U32>("s_pack_lh_b32_b16", [](Wide a, Wide b) { return a % 65536 + b / 65536 * 65536; }),
      value<U32, U32, U32>("s_pack_hh_b32_b16", [](Wide a, Wide b) { return a / 65536 + b / 65536 * 65536; }),
      value<U32, U32, U32>("s_pack_hl_b32_b16", [](Wide a, Wide b) { return a / 65536 + b % 65536 * 65536; }),
      value<U64, U32>("s_bitreplicate_b64_b32", [](Wide a) { Wide r = 0; for (int i = 31; i >= 0; --i) r = 4 * r + 3 * ((a >> i) % 2); return r; }),

      compares<U64, U64>("s_cmp_eq_u64", [](Wide a, Wide b) { return a == b; }),
      compares<U64, U64>("s_cmp_lg_u64", [](Wide a, Wide b) { return a != b; }),

      value<F32, F32, F32>("s_add_f32", sum),
      value<F32, F32, F32>("s_sub_f32", [](Real a, Real b) { return sum(a, -b); }),
      value<F32, F32, F32>("s_mul_f32", [](Real a, Real b) { return a * b; }),
      value<Raw<32>, Raw<32>, Raw<32>>("s_min_f32", [](u64 a, u64 b) { return float_of_two(a, b, false); }),
      value<Raw<32>, Raw<32>, Raw<32>>("s_max_f32", [](u64 a, u64 b) { return float_of_two(a, b, true); }),
      value<Raw<32>, Raw<32>, Raw<32>>("s_min_num_f32", [](u64 a, u64 b) { return float_of_two(a, b, false); }),
      value<Raw<32>, Raw<32>, Raw<32>>("s_max_num_f32", [](u64 a, u64 b) { return float_of_two(a, b, true); }),
      multiply_add("s_fmac_f32", true, 1),
      multiply_add("s_fmaak_f32", false, 1),
      multiply_add("s_fmamk_f32", false, 1),
      value<F32, I32>("s_cvt_f32_i32", [](Wide a) { return static_cast<Real>(a); }),
      value<F32, U32>("s_cvt_f32_u32", [](Wide a) { return static_cast<Real>(a); }),
      value<I32, F32>("s_cvt_i32_f32", [](Real a) { return to_integer(a, -(Wide{1} << 31), (Wide{1} << 31) - 1); }),
      value<U32, F32>("s_cvt_u32_f32", [](Real a) { return to_integer(a, 0, (Wide{1} << 32) - 1); }),
      value<F<16>, F32>("s_cvt_f16_f32", [](Real a) { return a; }),
      value<F32, U32>("s_cvt_f32_f16", [](Wide a) { return real_of(static_cast<u64>(a % 65536), kHalf); }),
      value<F32, U32>("s_cvt_hi_f32_f16", [](Wide a) { return real_of(static_cast<u64>(a / 65536), kHalf); }),
      value<F32, F32>("s_ceil_f32", [](Real a) { return -floored(-a); }),
      value<F32, F32>("s_floor_f32", floored),
      value<F32, F32>("s_trunc_f32", truncated),
      value<F32, F32>("s_rndne_f32", to_nearest_even),
  };
  add_for_width<32>(rows);
  add_for_width<64>(rows);
  for (const Predicate& predicate : kPredicates) {
    const std::string name = predicate.name;
    rows.push_back(compares<I32, I32>("s_cmp_" + name + "_i32", predicate.of));
    rows.push_back(compares<U32, U32>("s_cmp_" + name + "_u32", predicate.of));
    rows.push_back(compares<I32, I16>("s_cmpk_" + name + "_i32", predicate.of, 1));
    rows.push_back(compares<U32, U16>("s_cmpk_" + name + "_u32", predicate.of, 1));
  }
  for (const FloatPredicate& predicate : kFloatPredicates)
    rows.push_back(compares<F32, F32>("s_cmp_" + std::string(predicate.name) + "_f32", predicate.of));
  return rows;
}
// clang-format on

}  // namespace kiln::formulas
