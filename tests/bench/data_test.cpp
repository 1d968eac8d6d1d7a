#include "tests/bench/data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "kiln/ops/scalar.hpp"

namespace kiln::bench {
namespace {

struct Counts {
  std::size_t nans = 0, infinities = 0, zeros = 0, negative = 0, subnormal = 0;
  double least = 1e300, most = -1e300;
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
    counts.least = std::min(counts.least, value);
    counts.most = std::max(counts.most, value);
  }
  return counts;
}

TEST_CASE("data is of its kind") {
  const Counts uniform = count(ops::DType::kF32, DataKind::kUniform);
  CHECK((uniform.least >= 0 && uniform.most <= 1 && uniform.most > 0.99));
  const Counts negative = count(ops::DType::kF32, DataKind::kNegative);
  CHECK((negative.least >= -1 && negative.most <= 0));
  const Counts normal = count(ops::DType::kF64, DataKind::kNormal);
  CHECK((normal.negative > 49000 && normal.negative < 51000));
  CHECK((normal.most > 3.5 && normal.most < 6 && normal.nans == 0));
  const Counts special = count(ops::DType::kF32, DataKind::kSpecial);
  for (const std::size_t each :
       {special.nans, special.infinities, special.zeros, special.subnormal}) {
    CHECK((each > 180 && each < 320));
  }
  CHECK(count(ops::DType::kF8E4M3, DataKind::kSpecial).nans > 180);

  CHECK(count(ops::DType::kI64, DataKind::kNegative).negative == 100000);
  CHECK(count(ops::DType::kU8, DataKind::kNegative).least == 128);
  CHECK(count(ops::DType::kU32, DataKind::kUniform).most == 255);
  CHECK(count(ops::DType::kI16, DataKind::kSpecial).least == -32768);
}

TEST_CASE("data is the same in every run") {
  CHECK(values_of(ops::DType::kF16, DataKind::kSpecial, 1000) ==
        values_of(ops::DType::kF16, DataKind::kSpecial, 1000));
}

}  // namespace
}  // namespace kiln::bench
