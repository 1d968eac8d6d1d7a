#include "tests/kernels/number_format.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "kiln/ops/scalar.hpp"

namespace kiln::conformance {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr DType kSmall[] = {DType::kF16, DType::kBF16, DType::kF8E4M3};

Real power(int exponent) { return std::ldexp(1.0L, exponent); }

TEST_CASE("number_format decodes the values that the specifications list") {
  // IEEE 754-2019 and OCP OFP8 1.0, computed by hand.
  CHECK(decode(DType::kF16, 0x3c00) == 1);
  CHECK(decode(DType::kF16, 0xc000) == -2);
  CHECK(decode(DType::kF16, 0x7bff) == 65504);
  CHECK(decode(DType::kF16, 0x0400) == power(-14));
  CHECK(decode(DType::kF16, 0x0001) == power(-24));
  CHECK(decode(DType::kF16, 0x3555) == 1365 * power(-12));
  CHECK(decode(DType::kF16, 0x7c00) == kInfinity);
  CHECK(std::isnan(decode(DType::kF16, 0x7c01)));
  CHECK(std::signbit(decode(DType::kF16, 0x8000)));
  CHECK(decode(DType::kBF16, 0x3f80) == 1);
  CHECK(decode(DType::kBF16, 0x7f7f) == (2 - power(-7)) * power(127));
  CHECK(decode(DType::kBF16, 0x0001) == power(-133));
  CHECK(decode(DType::kBF16, 0xff80) == -kInfinity);
  CHECK(std::isnan(decode(DType::kBF16, 0xffc0)));
  CHECK(decode(DType::kF8E4M3, 0x38) == 1);
  CHECK(decode(DType::kF8E4M3, 0x7e) == 448);
  CHECK(decode(DType::kF8E4M3, 0xfe) == -448);
  CHECK(decode(DType::kF8E4M3, 0x01) == power(-9));
  CHECK(decode(DType::kF8E4M3, 0x08) == power(-6));
  CHECK(decode(DType::kF8E4M3, 0x78) == 256);  // the exponent of infinity in other formats
  CHECK(std::isnan(decode(DType::kF8E4M3, 0x7f)));
  CHECK(std::isnan(decode(DType::kF8E4M3, 0xff)));
}

TEST_CASE("number_format rounds to nearest, ties to even, at the edges of a format") {
  CHECK(encode(DType::kF16, 65519.99L) == 0x7bff);
  CHECK(encode(DType::kF16, 65520) == 0x7c00);
  CHECK(encode(DType::kF16, -65520) == 0xfc00);
  CHECK(encode(DType::kF16, power(-25)) == 0);  // half of the smallest value: ties to even
  CHECK(encode(DType::kF16, 3 * power(-26)) == 1);
  CHECK(encode(DType::kF16, 1 + power(-11)) == 0x3c00);
  CHECK(encode(DType::kF16, 1 + 3 * power(-11)) == 0x3c02);
  CHECK(encode(DType::kF16, 1 + power(-11) + power(-60)) == 0x3c01);  // lost on the way to f32
  CHECK(encode(DType::kBF16, 1 + power(-8)) == 0x3f80);
  CHECK(encode(DType::kBF16, 1 + power(-8) + power(-60)) == 0x3f81);
  CHECK(encode(DType::kBF16, std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(encode(DType::kF8E4M3, 464) == 0x7e);
  CHECK(encode(DType::kF8E4M3, 1e9L) == 0x7e);
  CHECK(encode(DType::kF8E4M3, -kInfinity) == 0xfe);
  CHECK(encode(DType::kF8E4M3, power(-10)) == 0);
  CHECK(encode(DType::kF8E4M3, 1.0625L) == 0x38);
  CHECK(encode(DType::kF8E4M3, 1.1875L) == 0x3a);
  for (const DType dtype : kSmall) {
    CHECK(is_nan(dtype, encode(dtype, kNan)));
    CHECK(encode(dtype, -0.0L) == Bits{1} << (8 * size_of(dtype) - 1));
  }
}

TEST_CASE("number_format gives back every value of the small formats") {
  for (const DType dtype : kSmall) {
    const Bits count = Bits{1} << (8 * size_of(dtype));
    std::size_t wrong = 0;
    for (Bits bits = 0; bits < count; ++bits) {
      const Real value = decode(dtype, bits);
      if (is_nan(dtype, bits) != std::isnan(value)) ++wrong;
      if (std::isnan(value)) continue;
      if (encode(dtype, value) != bits) ++wrong;
      if ((bits & (count / 2 - 1)) != 0 && from_ordinal(dtype, ordinal(dtype, bits)) != bits)
        ++wrong;
    }
    INFO(name(dtype));
    CHECK(wrong == 0);
  }
}

// Two independent conversions with different methods must agree on every boundary between values.
TEST_CASE("number_format and the launch helpers round every boundary of the small formats alike") {
  for (const DType dtype : kSmall) {
    std::size_t wrong = 0;
    const auto compare = [&](Real value) {
      if (ops::Scalar::from(dtype, static_cast<double>(value)).bits != encode(dtype, value))
        ++wrong;
    };
    for (std::int64_t position = -max_ordinal(dtype); position <= max_ordinal(dtype); ++position) {
      const Real value = decode(dtype, from_ordinal(dtype, position));
      const Real next = decode(dtype, from_ordinal(dtype, position + 1));
      compare(value);
      if (std::isinf(value) || std::isinf(next)) continue;
      const Real middle = (value + next) / 2;
      const Real nudge = std::fabs(next - value) / 1024;
      for (const Real near : {middle - nudge, middle, middle + nudge}) compare(near);
    }
    for (const Real far : {1e30L, 1e300L, -1e300L, kInfinity, -kInfinity}) compare(far);
    INFO(name(dtype));
    CHECK(wrong == 0);
  }
}

TEST_CASE("number_format adds so that one more rounding is the only one") {
  // 1 + 2^-60 is 1 in a double. Rounded to odd, it is still above 1.
  CHECK(add_to_odd(1.0, std::ldexp(1.0, -60)) > 1.0);
  CHECK(add_to_odd(1.0, -std::ldexp(1.0, -60)) < 1.0);
  CHECK(add_to_odd(1.0, 2.0) == 3.0);
  CHECK(std::isinf(add_to_odd(std::numeric_limits<double>::infinity(), 1.0)));
  const double tie = 1 + std::ldexp(1.0, -11);  // between two halves
  CHECK(encode(DType::kF16, add_to_odd(tie, std::ldexp(1.0, -70))) == 0x3c01);
  CHECK(encode(DType::kF16, add_to_odd(tie, -std::ldexp(1.0, -70))) == 0x3c00);
  CHECK(encode(DType::kF16, add_to_odd(tie, 0)) == 0x3c00);
}

TEST_CASE("Scalar converts doubles to integers as the reference host does") {
  using ops::Scalar;
  CHECK(Scalar::from(DType::kU8, 3.99).bits == 3);
  CHECK(Scalar::from(DType::kU8, 300).bits == 255);
  CHECK(Scalar::from(DType::kU8, -1).bits == 0);
  CHECK(Scalar::from(DType::kI16, -3.99).bits == 0xfffd);
  CHECK(Scalar::from(DType::kI32, 1e20).bits == 0x7fffffff);
  CHECK(Scalar::from(DType::kI64, -1e30).bits == 0x8000000000000000);
  CHECK(Scalar::from(DType::kI64, 9007199254740993.0).bits == 9007199254740992);
  CHECK(Scalar::from(DType::kU32, std::nan("")).bits == 0);
  CHECK(Scalar::from(DType::kF32, 0.1).bits == 0x3dcccccd);
  CHECK(Scalar::from(DType::kF64, -0.0).bits == 0x8000000000000000);
}

}  // namespace
}  // namespace kiln::conformance
