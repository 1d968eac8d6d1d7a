// Tests every value of the narrow types, every midpoint between two neighbours, and the numbers
// next to those midpoints, from f32 and from f64.
#include "device/dtypes.cuh"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

using device::narrow;
using device::widen;

template <class T>
constexpr u32 kSign = sizeof(T) == 1 ? 0x80u : 0x8000u;

template <class T>
f64 value(u32 bits) {
  return widen(T{static_cast<decltype(T::bits)>(bits)});
}

template <class T>
u32 bits_of_f32(f64 x) {
  return narrow<T>(static_cast<f32>(x)).bits;
}

template <class T>
u32 bits_of_f64(f64 x) {
  return narrow<T>(x).bits;
}

TEMPLATE_TEST_CASE("DTYPES widen and narrow give every value back", "", f16, bf16, f8_e4m3) {
  for (u32 bits = 0; bits < 2 * kSign<TestType>; ++bits) {
    const f64 x = value<TestType>(bits);
    if (std::isnan(x)) {
      REQUIRE(std::isnan(value<TestType>(bits_of_f32<TestType>(x))));
      REQUIRE(std::isnan(value<TestType>(bits_of_f64<TestType>(x))));
    } else {
      REQUIRE(bits_of_f32<TestType>(x) == bits);
      REQUIRE(bits_of_f64<TestType>(x) == bits);
    }
  }
}

TEMPLATE_TEST_CASE("DTYPES narrow rounds once, to nearest, ties to even", "", f16, bf16, f8_e4m3) {
  constexpr f64 kFar = std::numeric_limits<f64>::infinity();
  for (u32 bits = 0; bits + 1 < kSign<TestType>; ++bits) {
    const f64 below = value<TestType>(bits);
    f64 above = value<TestType>(bits + 1);
    if (std::isnan(below) || std::isnan(above)) continue;
    if (std::isinf(above)) above = 2 * below - value<TestType>(bits - 1);  // the overflow limit
    const f64 middle = (below + above) / 2;
    const u32 even = bits % 2 == 0 ? bits : bits + 1;
    for (const u32 sign : {0u, kSign<TestType>}) {
      const f64 s = sign == 0 ? 1 : -1;
      CAPTURE(bits, sign, middle);
      REQUIRE(bits_of_f64<TestType>(s * middle) == (even | sign));
      REQUIRE(bits_of_f64<TestType>(s * std::nextafter(middle, kFar)) == ((bits + 1) | sign));
      REQUIRE(bits_of_f64<TestType>(s * std::nextafter(middle, 0.0)) == (bits | sign));
      const f32 m = static_cast<f32>(middle);
      if (static_cast<f64>(m) != middle) continue;
      REQUIRE(bits_of_f32<TestType>(s * middle) == (even | sign));
      REQUIRE(bits_of_f32<TestType>(s * std::nextafter(m, HUGE_VALF)) == ((bits + 1) | sign));
      REQUIRE(bits_of_f32<TestType>(s * std::nextafter(m, 0.0f)) == (bits | sign));
    }
  }
}

TEST_CASE("DTYPES narrow overflows to infinity, and saturates where there is none") {
  const f64 infinity = std::numeric_limits<f64>::infinity();
  for (const f64 x : {1e39, 1e300, infinity}) {
    CAPTURE(x);
    CHECK(std::isinf(widen(narrow<f16>(x))));
    CHECK(std::isinf(widen(narrow<bf16>(x))));
    CHECK(widen(narrow<f8_e4m3>(x)) == 448.0f);
    CHECK(widen(narrow<f8_e4m3>(-x)) == -448.0f);
  }
}

TEST_CASE("DTYPES narrow keeps the sign of what becomes zero") {
  CHECK(narrow<f16>(-1e-30f).bits == 0x8000);
  CHECK(narrow<bf16>(-1e-300).bits == 0x8000);
  CHECK(narrow<f8_e4m3>(-1e-30f).bits == 0x80);
}

TEST_CASE("DTYPES narrow_pair puts the first element low") {
  CHECK(device::narrow_pair<f16, f32>(1.0f, -2.0f) == 0xc0003c00u);
  CHECK(device::narrow_pair<bf16, f32>(1.0f, -2.0f) == 0xc0003f80u);
  CHECK(device::narrow_pair<f8_e4m3, f32>(1.0f, -2.0f) == 0xc038u);
}

}  // namespace
}  // namespace kiln
