#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/families/unary_reference.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

using ops::UnaryOp;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

TEST_CASE("unary references give published values") {
  struct Known {
    UnaryOp op;
    Real inp, parameter, out;
  };
  // From tables of the normal distribution and of elementary functions; the formulas computed by
  // hand.
  const Known known[] = {
      {UnaryOp::kAbs, -2.5L, 0, 2.5L},
      {UnaryOp::kCeil, -1.5L, 0, -1},
      {UnaryOp::kCopy, 3, 0, 3},
      {UnaryOp::kCos, 1, 0, 0.540302305868139717L},
      {UnaryOp::kElu, -1, 0.5L, -0.316060279414278839L},
      {UnaryOp::kElu, 2, 0.5L, 2},
      {UnaryOp::kErf, 1, 0, 0.842700792949714869L},
      {UnaryOp::kExp, 1, 0, 2.718281828459045235L},
      {UnaryOp::kFloor, -1.5L, 0, -2},
      {UnaryOp::kGeluTanh, 1, 0, 0.841191990608276704L},
      {UnaryOp::kGeluTanh, -2, 0, -0.045402305912224981L},
      {UnaryOp::kGeluErf, 1, 0, 0.841344746068542949L},
      {UnaryOp::kLog, 10, 0, 2.302585092994045684L},
      {UnaryOp::kNegate, 7, 0, -7},
      {UnaryOp::kNormalCdf, -1, 0, 0.158655253931457051L},
      {UnaryOp::kNormalCdf, -6, 0, 9.865876450376981407e-10L},
      {UnaryOp::kPower, 2, 0.5L, 1.414213562373095049L},
      {UnaryOp::kPower, 3, -2, 0.111111111111111111L},
      {UnaryOp::kReciprocal, 8, 0, 0.125L},
      {UnaryOp::kRelu, -3, 0, 0},
      {UnaryOp::kRelu, 3, 0, 3},
      {UnaryOp::kRound, 2.5L, 0, 3},
      {UnaryOp::kRound, -2.5L, 0, -3},
      {UnaryOp::kSigmoid, 1, 0, 0.731058578630004879L},
      {UnaryOp::kSign, -0.1L, 0, -1},
      {UnaryOp::kSilu, 1, 0, 0.731058578630004879L},
      {UnaryOp::kSilu, -2, 0, -0.238405844044235112L},
      {UnaryOp::kSin, 1, 0, 0.841470984807896507L},
      {UnaryOp::kSquare, -3, 0, 9},
      {UnaryOp::kSqrt, 2, 0, 1.414213562373095049L},
      {UnaryOp::kTanh, 1, 0, 0.761594155955764888L},
  };
  for (const Known& each : known) {
    INFO(ops::info(each.op).root << " of " << static_cast<double>(each.inp));
    const Real out = unary_exact(each.op, each.inp, each.parameter);
    CHECK(std::fabs(out - each.out) <= std::fabs(each.out) * 4e-16L);
  }
}

TEST_CASE("unary references keep the rules for NaN, infinities and -0") {
  const auto admits = [](UnaryOp op, DType dtype, Real inp, Real out) {
    return unary_reference(op, dtype, encode(dtype, inp), encode(dtype, 1))
        .admits(dtype, encode(dtype, out));
  };
  const Real nan = std::nanl("");
  // max(x, 0) ignores NaN, except in the native half types.
  CHECK(admits(UnaryOp::kRelu, DType::kF32, nan, 0));
  CHECK_FALSE(admits(UnaryOp::kRelu, DType::kF32, nan, nan));
  CHECK(admits(UnaryOp::kRelu, DType::kF64, nan, 0));
  CHECK(admits(UnaryOp::kRelu, DType::kF8E4M3, nan, 0));
  CHECK(admits(UnaryOp::kRelu, DType::kF16, nan, nan));
  CHECK_FALSE(admits(UnaryOp::kRelu, DType::kBF16, nan, 0));
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    INFO(name(dtype));
    CHECK(admits(UnaryOp::kSign, dtype, nan, 0));
    CHECK_FALSE(admits(UnaryOp::kSign, dtype, nan, nan));
    CHECK(admits(UnaryOp::kElu, dtype, nan, nan));
    CHECK(admits(UnaryOp::kNegate, dtype, 0, -0.0L));
    CHECK_FALSE(admits(UnaryOp::kNegate, dtype, 0, 0));
    CHECK(admits(UnaryOp::kRound, dtype, -0.25L, -0.0L));
    CHECK(admits(UnaryOp::kReciprocal, dtype, -0.0L, -kInfinity));
    CHECK(admits(UnaryOp::kLog, dtype, 0, -kInfinity));
    CHECK(admits(UnaryOp::kLog, dtype, -1, nan));
    CHECK(admits(UnaryOp::kSqrt, dtype, -0.0L, -0.0L));
    CHECK(admits(UnaryOp::kExp, dtype, kInfinity, kInfinity));
    CHECK(admits(UnaryOp::kExp, dtype, -kInfinity, 0));
    CHECK(admits(UnaryOp::kSin, dtype, kInfinity, nan));
  }
  CHECK(admits(UnaryOp::kReciprocal, DType::kF8E4M3, 0, 448));  // no infinity: saturates
  CHECK(admits(UnaryOp::kLog, DType::kF8E4M3, 0, -448));
  // A copy keeps all bits, including the payload of a NaN.
  CHECK(
      unary_reference(UnaryOp::kCopy, DType::kF32, 0x7f800001, 0).admits(DType::kF32, 0x7f800001));
  CHECK_FALSE(
      unary_reference(UnaryOp::kCopy, DType::kF32, 0x7f800001, 0).admits(DType::kF32, 0x7fc00001));
}

TEST_CASE("powf to the power of 0 is 1, or NaN where the input signals") {
  const auto power = [](DType dtype, Bits inp) {
    return unary_reference(UnaryOp::kPower, dtype, inp, 0);
  };
  CHECK(power(DType::kF32, 0x7fc00000).admits(DType::kF32, 0x3f800000));
  CHECK_FALSE(power(DType::kF32, 0x7fc00000).admits(DType::kF32, 0x7fc00000));
  CHECK(power(DType::kF32, 0xff800001).admits(DType::kF32, 0x3f800000));
  CHECK(power(DType::kF32, 0xff800001).admits(DType::kF32, 0xffc00001));
  CHECK(power(DType::kF16, 0x7d00).admits(DType::kF16, 0x7e00));
  CHECK_FALSE(power(DType::kF16, 0x7e00).admits(DType::kF16, 0x7e00));
  CHECK_FALSE(power(DType::kF8E4M3, 0x7f).admits(DType::kF8E4M3, 0x7f));
}

TEST_CASE("unary references admit what the bound allows and no more") {
  const Bits one = encode(DType::kF32, 1);
  const Bits e = encode(DType::kF32, 2.718281828459045235L);
  const Expected exp_of_1 = unary_reference(UnaryOp::kExp, DType::kF32, one, 0);
  CHECK(exp_of_1.admits(DType::kF32, e));
  CHECK(exp_of_1.admits(DType::kF32, e + 2));
  CHECK(exp_of_1.admits(DType::kF32, e - 2));
  CHECK_FALSE(exp_of_1.admits(DType::kF32, e + 3));
  CHECK_FALSE(exp_of_1.admits(DType::kF32, e - 3));
  CHECK_FALSE(exp_of_1.admits(DType::kF32, 0x7fc00000));
  const Expected sqrt_of_2 =
      unary_reference(UnaryOp::kSqrt, DType::kF32, encode(DType::kF32, 2), 0);
  CHECK(sqrt_of_2.admits(DType::kF32, 0x3fb504f3));
  CHECK_FALSE(sqrt_of_2.admits(DType::kF32, 0x3fb504f4));
  // 255.875 squared in f16: 65472.015625 lies between two values and rounds down.
  const Expected square = unary_reference(UnaryOp::kSquare, DType::kF16, 0x5bff, 0);
  CHECK(square.admits(DType::kF16, 0x7bfe));
  CHECK_FALSE(square.admits(DType::kF16, 0x7bff));
}

// Returns the permitted values of the outputs of a case.
std::vector<Expected> expected_of(std::string_view module, const std::string& kernel,
                                  const std::string& variant) {
  for (const CaseSpec& spec : cases_of(module, kernel)) {
    if (spec.name == kernel + "/" + variant) {
      return spec.build({1, 1}).operands.back().expected();
    }
  }
  FAIL("no case " << kernel << "/" << variant);
  return {};
}

TEST_CASE("affine references wrap integers and round floats once") {
  // The values of "all-values" are their own indices. The first pair of scalars is (3, 7).
  const std::vector<Expected> bytes = expected_of("affine", "affine_u8", "all-values/own");
  CHECK(bytes[100].example() == (100 * 3 + 7) % 256);
  CHECK(bytes[255].example() == (255 * 3 + 7) % 256);

  // 1.7 and 0.3 in f16 are 0x3ecd and 0x34cd; their sum, 2.00024, lies just above 2.
  const std::vector<Expected> halves = expected_of("affine", "affine_f16", "all-values/own");
  CHECK(halves[0x3c00].admits(DType::kF16, 0x4000));
  CHECK_FALSE(halves[0x3c00].admits(DType::kF16, 0x4001));
  CHECK(halves[0x7c00].admits(DType::kF16, 0x7c00));
  CHECK(halves[0x7e00].admits(DType::kF16, 0x7e00));
  CHECK_FALSE(halves[0x7e00].admits(DType::kF16, 0x3c00));
  const std::vector<Expected> eights = expected_of("affine", "affine_f8_e4m3", "all-values/own");
  CHECK(eights[0x7e].admits(DType::kF8E4M3, 0x7e));  // saturates
}

TEST_CASE("views find elements where the strides put them") {
  const ops::Layout transposed{{3, 2}, {1, 3}};
  const std::vector<std::size_t> expected = {0, 3, 1, 4, 2, 5};
  CHECK(offsets_of(transposed) == expected);
  CHECK(extent_of(transposed) == 6);
  const ops::Layout broadcast{{2, 3}, {0, 2}};
  CHECK(offsets_of(broadcast)[5] == 4);
  CHECK(extent_of(broadcast) == 5);
  CHECK(extent_of(ops::Layout{}) == 1);
  CHECK(count_of(ops::Layout{}) == 1);
}

}  // namespace
}  // namespace kiln::conformance
