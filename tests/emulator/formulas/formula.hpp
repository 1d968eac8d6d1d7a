// A formula tests one instruction: it specifies, from the ISA documents, what the instruction does,
// and compares.
//
//   vector<U<32>, U<32>, U<32>>("v_add_nc_u32", [](Wide a, Wide b) { return a + b; })
//
// means "an unsigned 32-bit result and two such sources; in exact arithmetic the result is this".
// The types define the conversions between registers and numbers. For vector instructions, the
// harness supplies the values, the modifiers, partial sets of active lanes and both wave widths.
// Formulas share no code with emulator/operations.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/formulas/numbers.hpp"

namespace kiln::formulas {

struct Formula {
  std::string name;  // of the row that it tests
  std::function<void()> hold;
};
using Formulas = std::vector<Formula>;

// Each function returns the formulas of one group, grouped as in emulator/operations/.
Formulas bit_formulas();
Formulas integer_formulas();
Formulas float_formulas();
Formulas conversion_formulas();
Formulas packed_formulas();
Formulas matrix_formulas();
Formulas comparison_formulas();
Formulas lane_formulas();
Formulas scalar_formulas();
Formulas control_formulas();
Formulas memory_formulas();
Formulas atomic_formulas();
Formulas lds_formulas();

// Returns the formulas of all groups.
Formulas all_formulas();

// Runs each formula of a group. A formula that compares nothing fails.
void hold_all(const Formulas& formulas);

// Number of values compared so far. Every comparison calls one of these.
u64 compared();
void count_comparison();
// Fails the test if the values differ; `what` is only called then. Returns false if they differ.
bool hold_equal(u64 got, u64 expected, const std::function<std::string()>& what);
std::string hex(u64 x);

// ---- conversions between the bits of a register and numbers

struct Kind {
  int bits;
  enum Class : u8 { kUnsigned, kSigned, kFloat } meaning;

  bool is_float() const { return meaning == kFloat; }
  bool is_half_register() const { return bits == 16; }
  int registers() const { return bits == 64 ? 2 : 1; }
  Format format() const { return bits == 16 ? kHalf : bits == 32 ? kSingle : kDouble; }
};

template <int kBits>
struct U {
  static constexpr Kind kKind{kBits, Kind::kUnsigned};
  static Wide decode(u64 raw) { return static_cast<Wide>(raw); }
  static u64 encode(Wide x, bool clamp) {
    const Wide highest = (Wide{1} << kBits) - 1;
    if (clamp) x = x < 0 ? 0 : x > highest ? highest : x;
    return low_bits(x, kBits);
  }
};
template <int kBits>
struct I {
  static constexpr Kind kKind{kBits, Kind::kSigned};
  static Wide decode(u64 raw) { return sign_extended(raw, kBits); }
  static u64 encode(Wide x, bool clamp) {
    const Wide end = Wide{1} << (kBits - 1);
    if (clamp) x = x < -end ? -end : x >= end ? end - 1 : x;
    return low_bits(x, kBits);
  }
};
template <int kBits>
struct F {
  static constexpr Kind kKind{kBits, Kind::kFloat};
  static Real decode(u64 raw) { return real_of(raw, kKind.format()); }
  static u64 encode(Real x, bool) { return round_to(x, kKind.format()); }
};
// A float as its bits, for formulas that distinguish NaNs or zeros.
template <int kBits>
struct Raw {
  static constexpr Kind kKind{kBits, Kind::kFloat};
  static u64 decode(u64 raw) { return raw; }
  static u64 encode(u64 raw, bool) { return raw; }
};

// ---- vector instructions: a destination v0 and up to three sources v4, v6 and v8

struct VectorOptions {
  bool accumulates = false;            // the last source is the old value of the destination
  bool clamps = false;                 // `clamp` saturates an integer result
  bool has_modifiers = true;           // for floats: sources -x, |x|, results clamp, mul:2
  bool selects_halves = true;          // op_sel
  bool keeps_upper = false;            // a 16-bit result keeps the upper half on gfx9 as well
  int literal = -1;                    // index of the source that is a number in the text
  u64 ulps = 0;                        // permitted difference from the formula's result
  std::vector<u32> widths = {32, 64};  // wave widths in which the instruction exists
  std::vector<std::vector<u64>> values = {};  // for each source, instead of the usual edges
};

struct VectorFormula {
  std::string name;
  Kind result;
  std::vector<Kind> sources;
  std::function<u64(const u64* sources, bool clamp)> formula;
  VectorOptions options;
};
void hold_vector(const VectorFormula& formula);

template <typename D, typename... S, typename Function, std::size_t... kIndex>
Formula make_vector(std::string name, Function function, VectorOptions options,
                    std::index_sequence<kIndex...>) {
  VectorFormula formula{name,
                        D::kKind,
                        {S::kKind...},
                        [function](const u64* sources, bool clamp) {
                          return D::encode(function(S::decode(sources[kIndex])...), clamp);
                        },
                        std::move(options)};
  return {std::move(name), [formula = std::move(formula)] { hold_vector(formula); }};
}
template <typename D, typename... S, typename Function>
Formula vector(std::string name, Function function, VectorOptions options = {}) {
  return make_vector<D, S...>(std::move(name), function, std::move(options),
                              std::index_sequence_for<S...>{});
}

// Returns values at which instructions of that kind go wrong: ends of ranges, powers of two and
// their neighbours; for floats also zeros, subnormals, ties, infinities, NaNs.
std::vector<u64> edges_of(const Kind& kind);
// Returns tuples of sources: pairs of edge values, and random values.
std::vector<std::vector<u64>> tuples_of(const std::vector<Kind>& kinds,
                                        const std::vector<std::vector<u64>>& values = {});

// Returns true if the values are equal, both NaN, or floats at most `ulps` apart.
bool is_same(const Kind& kind, u64 got, u64 expected, u64 ulps = 0);

}  // namespace kiln::formulas
