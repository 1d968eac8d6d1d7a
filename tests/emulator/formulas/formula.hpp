// A formula holds one instruction: it says anew, from the ISA documents, what the instruction does,
// and compares.
//
//   vector<U<32>, U<32>, U<32>>("v_add_nc_u32", [](Wide a, Wide b) { return a + b; })
//
// reads "an unsigned result of 32 bits and two such sources; in exact arithmetic the result is
// this". The types say how registers become numbers and numbers registers; for vector instructions
// the harness brings the values, the modifiers, partial sets of active lanes and both widths of
// waves. Formulas share no code with emulator/operations.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/formulas/numbers.hpp"

namespace kiln::formulas {

struct Formula {
  std::string name;  // of the row that it holds
  std::function<void()> hold;
};
using Formulas = std::vector<Formula>;

// Each gives the formulas of one group, as emulator/operations/ has them.
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

// All of them.
Formulas all_formulas();

// Holds each of a group; a formula that compares nothing fails.
void hold_all(const Formulas& formulas);

// How many values were compared so far. Every comparison goes through one of these.
u64 compared();
void count_comparison();
// Fails the test when they differ; `what` is made only then. False: they do.
bool hold_equal(u64 got, u64 expected, const std::function<std::string()>& what);
std::string hex(u64 x);

// ---- how a register's bits become a number, and a number a register's bits

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
// A float as its bits, for formulas that tell NaNs or zeros apart.
template <int kBits>
struct Raw {
  static constexpr Kind kKind{kBits, Kind::kFloat};
  static u64 decode(u64 raw) { return raw; }
  static u64 encode(u64 raw, bool) { return raw; }
};

// ---- vector instructions: a destination v0 and up to three sources v4, v6 and v8

struct VectorOptions {
  bool accumulates = false;            // the last source is what the destination held
  bool clamps = false;                 // `clamp` saturates an integer result
  bool has_modifiers = true;           // of floats: sources -x, |x|, results clamp, mul:2
  bool selects_halves = true;          // op_sel
  bool keeps_upper = false;            // a 16-bit result leaves the upper half alone on gfx9, too
  int literal = -1;                    // which source is a number in the text
  u64 ulps = 0;                        // how far a result may be from the formula's
  std::vector<u32> widths = {32, 64};  // of waves: where the instruction exists
  std::vector<std::vector<u64>> values = {};  // of each source, instead of the usual edges
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

// Values at which instructions of that kind go wrong: ends of ranges, powers of two and their
// neighbours; of floats zeros, subnormals, ties, infinities, NaNs.
std::vector<u64> edges_of(const Kind& kind);
// Tuples of sources: edges against edges, and random ones.
std::vector<std::vector<u64>> tuples_of(const std::vector<Kind>& kinds,
                                        const std::vector<std::vector<u64>>& values = {});

// Equal, both NaNs, or floats no more than `ulps` apart.
bool is_same(const Kind& kind, u64 got, u64 expected, u64 ulps = 0);

}  // namespace kiln::formulas
