#include "kiln/narrow_floats.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace kiln;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// Checks that every number converts to itself, and that values between neighbours go to the nearer
// one, or to the even one in a tie. `largest` is the bits of the largest finite number.
template <typename Number, typename Bits>
void check_all(Number (*from)(float), Bits largest, Bits sign) {
  const auto number_of = [](std::uint32_t bits) { return Number{static_cast<Bits>(bits)}; };
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits <= largest; ++bits) {
    const float number = to_float(number_of(bits));
    wrong += from(number) != number_of(bits);
    wrong += from(-number) != number_of(bits | sign);
    wrong += to_float(number_of(bits | sign)) != -number;
    if (bits == largest) break;
    const float next = to_float(number_of(bits + 1));
    wrong += !(number < next);
    const float middle = number / 2 + next / 2;
    if (middle == number || middle == next) continue;  // float has no value between them
    wrong += from(middle) != number_of(bits + (bits & 1));
    wrong += from(std::nextafter(middle, kInfinite)) != number_of(bits + 1);
    wrong += from(std::nextafter(middle, 0.0f)) != number_of(bits);
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(to_float(from(std::nanf("")))));
}

}  // namespace

TEST_CASE("narrow floats are converted from float with one rounding, and to it exactly") {
  check_all<f16>(to_f16, std::uint16_t{0x7BFF}, std::uint16_t{0x8000});
  check_all<bf16>(to_bf16, std::uint16_t{0x7F7F}, std::uint16_t{0x8000});
  check_all<f8>(to_f8, std::uint8_t{0x7E}, std::uint8_t{0x80});
}

TEST_CASE("narrow floats have the values that their formats say") {
  CHECK(to_f16(1.0f).bits == 0x3C00);
  CHECK(to_f16(-2.0f).bits == 0xC000);
  CHECK(to_f16(65519.0f).bits == 0x7BFF);
  CHECK(to_f16(65520.0f).bits == 0x7C00);
  CHECK(to_f16(-kInfinite).bits == 0xFC00);
  CHECK(to_float(f16{0x7C00}) == kInfinite);
  CHECK(to_float(f16{1}) == std::ldexp(1.0f, -24));
  CHECK(to_bf16(1.0f).bits == 0x3F80);
  CHECK(to_bf16(std::numeric_limits<float>::max()).bits == 0x7F80);
  CHECK(to_float(bf16{0x7F80}) == kInfinite);
  CHECK(to_f8(1.0f).bits == 0x38);
  CHECK(to_f8(kInfinite).bits == 0x7E);
  CHECK(to_f8(-1e9f).bits == 0xFE);
  CHECK(to_float(f8{0x7E}) == 448.0f);
  CHECK(to_float(f8{1}) == std::ldexp(1.0f, -9));
}
