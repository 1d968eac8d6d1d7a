// The references of cast, binary and where: known values, and faults that must be caught.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

// Returns the result of a cast from a type of 8 or 16 bits, for one value.
Bits cast_of(DType from, const std::string& to, Real value) {
  const std::string kernel = "cast_" + std::string(name(from)) + "_" + to;
  const PreparedCase subject = build("cast", kernel + "/all-values/own");
  return subject.placed.back().expected[encode(from, value)].example();
}

TEST_CASE("cast references give known values") {
  const Real nan = std::nanl("");
  // Conversions to u8 go through a saturating u32, and take its low byte.
  CHECK(cast_of(DType::kBF16, "u8", 300) == 44);
  CHECK(cast_of(DType::kBF16, "u8", -1) == 0);
  CHECK(cast_of(DType::kBF16, "u8", 3.984375L) == 3);
  CHECK(cast_of(DType::kBF16, "u8", 1e20L) == 255);
  CHECK(cast_of(DType::kBF16, "u8", nan) == 0);
  CHECK(cast_of(DType::kF16, "u32", -7) == 0);
  CHECK(cast_of(DType::kF16, "u32", kInfinity) == 0xffffffff);
  CHECK(cast_of(DType::kF16, "u32", 65504) == 65504);
  CHECK(cast_of(DType::kF16, "f64", -2) == 0xc000000000000000);
  CHECK(cast_of(DType::kF16, "f8_e4m3", 449) == 0x7e);
  CHECK(cast_of(DType::kF16, "bf16", 65504) == 0x4780);
  CHECK(cast_of(DType::kBF16, "f16", 1e6L) == 0x7c00);
}

// True if the suite accepts a device that returns `result` for each input that is not NaN.
using Result1 = std::function<Bits(DType to, Bits inp)>;
bool passes_cast(const std::string& kernel, const Result1& result) {
  const PreparedCase subject = build("cast", kernel + "/contiguous/n=8193/own");
  const Verdict verdict = run_flawed(subject, [&](const Piece& inp, const Piece& out) {
    for (std::size_t i = 0; i < out.count(); ++i) {
      const DType from = inp.operand.dtype;
      if (is_float(from) && is_nan(from, inp.read(i))) continue;
      out.write(i, result(out.operand.dtype, inp.read(i)));
    }
  });
  return verdict.complaints.empty();
}

TEST_CASE("a cast that rounds twice is caught, and one that rounds once is not") {
  const auto through = [](DType from, DType middle) {
    return [=](DType to, Bits inp) {
      const Real value = is_float(from)        ? decode(from, inp)
                         : from == DType::kI64 ? static_cast<Real>(static_cast<std::int64_t>(inp))
                                               : static_cast<Real>(inp);
      return encode(to, decode(middle, encode(middle, value)));
    };
  };
  for (const char* const to : {"f16", "bf16"}) {
    const std::string kernel = std::string("cast_f64_") + to;
    INFO(kernel);
    CHECK(passes_cast(kernel, through(DType::kF64, DType::kF64)));
    CHECK_FALSE(passes_cast(kernel, through(DType::kF64, DType::kF32)));
  }
  CHECK(passes_cast("cast_f64_f8_e4m3", through(DType::kF64, DType::kF32)));
  CHECK(passes_cast("cast_u32_bf16", through(DType::kU32, DType::kF64)));
  CHECK_FALSE(passes_cast("cast_u32_bf16", through(DType::kU32, DType::kF32)));
  CHECK(passes_cast("cast_i64_f64", through(DType::kI64, DType::kF64)));
  CHECK_FALSE(passes_cast("cast_i64_f32", through(DType::kI64, DType::kF64)));
}

TEST_CASE("a cast that saturates to u8, or cuts a float off, is caught") {
  CHECK_FALSE(passes_cast("cast_f32_u8", [](DType, Bits inp) -> Bits {
    const Real x = decode(DType::kF32, inp);
    return x >= 255 ? 255 : x <= 0 ? 0 : static_cast<Bits>(x);
  }));
  CHECK_FALSE(passes_cast("cast_f32_bf16", [](DType, Bits inp) { return inp >> 16; }));
  CHECK_FALSE(
      passes_cast("cast_i64_u32", [](DType, Bits inp) { return std::min<Bits>(inp, 0xffffffff); }));
}

// True if the suite accepts a device that returns `result` for each pair.
using Result2 = std::function<Bits(Bits lhs, Bits rhs)>;
bool passes_binary(const std::string& kernel, const Result2& result,
                   const std::string& variant = "/contiguous/n=8193/own") {
  const Verdict verdict =
      run_model(build("binary", kernel + variant), [&](const std::vector<Piece>& operands) {
        for (std::size_t i = 0; i < operands[2].count(); ++i) {
          operands[2].write(i, result(operands[0].read(i), operands[1].read(i)));
        }
      });
  return verdict.complaints.empty();
}

float f32(Bits bits) { return static_cast<float>(decode(DType::kF32, bits)); }
Bits bits_of(float value) { return encode(DType::kF32, static_cast<Real>(value)); }

TEST_CASE("binary references take what the hardware gives, and catch other rules") {
  CHECK(passes_binary("bdiv_f32", [](Bits a, Bits b) { return bits_of(f32(a) / f32(b)); }));
  // With a reciprocal, which rounds twice.
  CHECK_FALSE(
      passes_binary("bdiv_f32", [](Bits a, Bits b) { return bits_of(f32(a) * (1 / f32(b))); }));
  CHECK(passes_binary("bsub_f32", [](Bits a, Bits b) { return bits_of(f32(a) - f32(b)); }));

  CHECK(passes_binary("bmaximum_f32",
                      [](Bits a, Bits b) { return bits_of(std::fmax(f32(a), f32(b))); }));
  CHECK_FALSE(passes_binary("bmaximum_f32", [](Bits a, Bits b) {
    return f32(a) > f32(b) ? a : b;  // propagates a NaN on the right
  }));
  CHECK_FALSE(passes_binary("bmaximum_f16", [](Bits a, Bits b) {
    const Real x = decode(DType::kF16, a), y = decode(DType::kF16, b);
    return std::isnan(x) ? b : std::isnan(y) ? a : x > y ? a : b;
  }));

  CHECK(passes_binary("lt_f32", [](Bits a, Bits b) -> Bits { return f32(a) < f32(b); }));
  CHECK_FALSE(passes_binary("ge_f32", [](Bits a, Bits b) -> Bits { return !(f32(a) < f32(b)); }));
  CHECK_FALSE(passes_binary("le_f32", [](Bits a, Bits b) -> Bits { return f32(a) < f32(b); }));
  CHECK_FALSE(passes_binary("eq_f32", [](Bits a, Bits b) -> Bits { return a == b; }));
  CHECK_FALSE(passes_binary("lt_i64", [](Bits a, Bits b) -> Bits { return a < b; }));
  CHECK(passes_binary("lt_u32", [](Bits a, Bits b) -> Bits { return a < b; }));
  CHECK(passes_binary(
      "bmul_u8", [](Bits a, Bits b) { return a * b & 255; }, "/all-values/own"));
  CHECK_FALSE(passes_binary(
      "bsub_u8", [](Bits a, Bits b) { return a < b ? 0 : a - b; }, "/all-values/own"));
}

TEST_CASE("a condition of which half of the bits are looked at is caught") {
  const auto passes_where = [](Bits mask) {
    const Verdict verdict =
        run_model(build("ternary", "where_i64_f16/contiguous/n=8193/own"),
                  [mask](const std::vector<Piece>& operands) {
                    for (std::size_t i = 0; i < operands[3].count(); ++i) {
                      const bool holds = (operands[0].read(i) & mask) != 0;
                      operands[3].write(i, (holds ? operands[1] : operands[2]).read(i));
                    }
                  });
    return verdict.complaints.empty();
  };
  CHECK(passes_where(~Bits{0}));
  CHECK_FALSE(passes_where(0xffffffff));
}

}  // namespace
}  // namespace kiln::conformance
