#include "tests/emulator/formulas/two_over_pi.hpp"

#include <array>

#include "tests/emulator/formulas/numbers.hpp"

namespace kiln::formulas {
namespace {

constexpr int kKept = 1201;
// Fixed point: 32 integer bits and 1312 fraction bits, most significant first.
constexpr int kWords = 42;
using Fixed = std::array<u32, kWords>;

void divide(Fixed& x, u32 divisor) {
  u64 rest = 0;
  for (u32& word : x) {
    rest = rest << 32 | word;
    word = static_cast<u32>(rest / divisor);
    rest %= divisor;
  }
}
// x + y, or x - y.
Fixed combined(const Fixed& x, const Fixed& y, bool subtract) {
  Fixed result{};
  i64 carry = 0;
  for (int i = kWords - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const i64 term = static_cast<i64>(y[at]);
    const i64 total = static_cast<i64>(x[at]) + (subtract ? -term : term) + carry;
    result[at] = static_cast<u32>(total & 0xffffffff);
    carry = total >> 32;
  }
  return result;
}
// Returns `factor` times the arc tangent of 1/n, computed by its series.
Fixed arc_tangent(u32 factor, u32 n) {
  Fixed power{};
  power[0] = factor;
  divide(power, n);
  Fixed total{};
  for (u32 i = 1; power != Fixed{}; i += 2) {
    Fixed term = power;
    divide(term, i);
    total = combined(total, term, i % 4 == 3);
    divide(power, n * n);
  }
  return total;
}

std::array<bool, kKept> computed_bits() {
  // Machin: pi = 16 atan(1/5) - 4 atan(1/239).
  const Fixed pi = combined(arc_tangent(16, 5), arc_tangent(4, 239), true);
  Fixed rest{};
  rest[0] = 2;
  std::array<bool, kKept> bits{};
  for (bool& bit : bits) {  // long division
    rest = combined(rest, rest, false);
    bit = !(rest < pi);
    if (bit) rest = combined(rest, pi, true);
  }
  return bits;
}

}  // namespace

int two_over_pi_bit(int place) {
  static const std::array<bool, kKept> bits = computed_bits();
  return place < kKept && bits[static_cast<std::size_t>(place)] ? 1 : 0;
}

}  // namespace kiln::formulas
