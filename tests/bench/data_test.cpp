#include "tests/bench/data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "kiln/ops/quantized.hpp"
#include "kiln/ops/scalar.hpp"

namespace kiln::bench {
namespace {

struct Counts {
  std::size_t nans = 0, infinities = 0, zeros = 0, negative = 0, subnormal = 0;
  double min = 1e300, max = -1e300;
};

Counts count(ops::DType dtype, DataKind kind) {
  constexpr std::size_t kCount = 100000;
  const std::vector<std::byte> values = values_of(dtype, kind, kCount);
  const std::size_t width = size_of(dtype);
  Counts counts;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, values.data() + i * width, width);
    const double value = ops::Scalar::of_bits(dtype, bits).value();
    counts.nans += std::isnan(value);
    counts.infinities += std::isinf(value);
    counts.zeros += value == 0;
    counts.negative += value < 0;
    counts.subnormal += value != 0 && std::fabs(value) < 0x1p-126;
    if (!std::isfinite(value)) continue;
    counts.min = std::min(counts.min, value);
    counts.max = std::max(counts.max, value);
  }
  return counts;
}

TEST_CASE("data is of its kind") {
  const Counts uniform = count(ops::DType::kF32, DataKind::kUniform);
  CHECK((uniform.min >= 0 && uniform.max <= 1 && uniform.max > 0.99));
  const Counts negative = count(ops::DType::kF32, DataKind::kNegative);
  CHECK((negative.min >= -1 && negative.max <= 0));
  const Counts normal = count(ops::DType::kF64, DataKind::kNormal);
  CHECK((normal.negative > 49000 && normal.negative < 51000));
  CHECK((normal.max > 3.5 && normal.max < 6 && normal.nans == 0));
  const Counts special = count(ops::DType::kF32, DataKind::kSpecial);
  for (const std::size_t each :
       {special.nans, special.infinities, special.zeros, special.subnormal}) {
    CHECK((each > 180 && each < 320));
  }
  CHECK(count(ops::DType::kF8E4M3, DataKind::kSpecial).nans > 180);

  CHECK(count(ops::DType::kI64, DataKind::kNegative).negative == 100000);
  CHECK(count(ops::DType::kU8, DataKind::kNegative).min == 128);
  CHECK(count(ops::DType::kU32, DataKind::kUniform).max == 255);
  CHECK(count(ops::DType::kI16, DataKind::kSpecial).min == -32768);
}

double f16_at(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, 2);
  return ops::Scalar::of_bits(ops::DType::kF16, bits).value();
}

TEST_CASE("blocks hold any bits, but small scales and fitting sums") {
  for (const ops::BlockFormatInfo& format : ops::kBlockFormats) {
    INFO(format.name);
    CHECK(blocks_of(format.name, 5).size() == 5 * format.bytes);
  }
  const auto small = [](double scale) { return scale >= 1.0 / 129 && scale <= 1.0 / 64; };
  const std::vector<std::byte> q6_k = blocks_of("Q6_K", 100), q2_k = blocks_of("Q2_K", 100);
  const std::vector<std::byte> q8_1 = blocks_of("Q8_1", 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(small(f16_at(q6_k, 210 * i + 208)));
    CHECK((small(f16_at(q2_k, 84 * i + 80)) && small(f16_at(q2_k, 84 * i + 82))));
    CHECK(small(f16_at(q8_1, 36 * i)));
    int sum = 0;
    for (std::size_t j = 4; j < 36; ++j) sum += static_cast<std::int8_t>(q8_1[36 * i + j]);
    CHECK(std::fabs(f16_at(q8_1, 36 * i + 2) - f16_at(q8_1, 36 * i) * sum) < 0.05);
  }
}

TEST_CASE("shuffled numbers come all before one comes again") {
  const auto numbers = numbers_below(10, ops::DType::kU8, 100, Numbers::kShuffled);
  for (std::size_t i = 0; i < 100; i += 10) {
    const std::set<std::byte> ten(numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                  numbers.begin() + static_cast<std::ptrdiff_t>(i + 10));
    CHECK((ten.size() == 10 && *ten.rbegin() == std::byte{9}));
  }
}

TEST_CASE("ids stay within their type") {
  const auto ids = numbers_below(100000, ops::DType::kI16, 70000, Numbers::kShuffled);
  for (std::size_t i = 1; i < ids.size(); i += 2) {
    if ((ids[i] & std::byte{0x80}) != std::byte{0}) FAIL("an id below 0");
  }
}

TEST_CASE("data is the same in every run") {
  CHECK(values_of(ops::DType::kF16, DataKind::kSpecial, 1000) ==
        values_of(ops::DType::kF16, DataKind::kSpecial, 1000));
}

}  // namespace
}  // namespace kiln::bench
