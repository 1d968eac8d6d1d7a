#include "tests/bench/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "kiln/ops/quantized.hpp"
#include "kiln/ops/scalar.hpp"
#include "tests/kernels/number_format.hpp"
#include "tests/kernels/values.hpp"

namespace kiln::bench {
namespace {

using conformance::Random;

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform(0, 1)));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform(0, 1));
}

std::uint64_t special_float(ops::DType dtype, Random& random) {
  const std::uint64_t sign = std::uint64_t{random.below(2)} << (8 * size_of(dtype) - 1);
  const auto bits_of = [&](double value) { return ops::Scalar::from(dtype, value).bits | sign; };
  switch (random.below(4)) {
    case 0: return bits_of(std::numeric_limits<double>::quiet_NaN());
    case 1: return bits_of(std::numeric_limits<double>::infinity());  // f8: the largest value
    case 2: return bits_of(0);
    default: return (1 + random.below(conformance::min_normal(dtype) - 1)) | sign;
  }
}

std::uint64_t float_bits(ops::DType dtype, DataKind kind, Random& random) {
  switch (kind) {
    case DataKind::kUniform: return ops::Scalar::from(dtype, random.uniform(0, 1)).bits;
    case DataKind::kNegative: return ops::Scalar::from(dtype, random.uniform(-1, 0)).bits;
    case DataKind::kSpecial:
      if (random.below(100) == 0) return special_float(dtype, random);
      [[fallthrough]];
    case DataKind::kNormal: return ops::Scalar::from(dtype, normal(random)).bits;
  }
  return 0;
}

std::uint64_t integer_bits(ops::DType dtype, DataKind kind, Random& random) {
  const bool is_signed = info(dtype).kind == ops::NumberKind::kSigned;
  const std::uint64_t top = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  switch (kind) {
    case DataKind::kUniform: return random.below(256);
    case DataKind::kNegative:
      return is_signed ? ~std::uint64_t{random.below(256)} : top + random.below(top);
    case DataKind::kSpecial:
      if (random.below(100) == 0) {
        const std::uint64_t ends[] = {0, top, top - 1, ~std::uint64_t{0}};
        return ends[random.below(4)];
      }
      [[fallthrough]];
    case DataKind::kNormal:
      return static_cast<std::uint64_t>(std::llround(32 * normal(random)) + (is_signed ? 0 : 128));
  }
  return 0;
}

// The position of the scales in a block.
struct ScalesOf {
  std::string_view format;
  std::size_t first, second = kNone;  // offsets of f16
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};
constexpr ScalesOf kScales[] = {{"Q4_0", 0},    {"Q4_1", 0, 2}, {"Q5_0", 0},      {"Q5_1", 0, 2},
                                {"Q8_0", 0},    {"Q8_1", 0, 2}, {"Q2_K", 80, 82}, {"Q3_K", 108},
                                {"Q4_K", 0, 2}, {"Q5_K", 0, 2}, {"Q6_K", 208},    {"IQ4_NL", 0}};

void put_f16(std::byte* at, double value) {
  const std::uint64_t bits = ops::Scalar::from(ops::DType::kF16, value).bits;
  std::memcpy(at, &bits, 2);
}

void put_scales(std::string_view format, std::byte* block, Random& random) {
  const double scale = random.uniform(1.0 / 128, 1.0 / 64);
  if (format == "Q8_K") {
    const auto narrow = static_cast<float>(scale);
    std::memcpy(block, &narrow, sizeof narrow);
  }
  if (format == "MXFP4") block[0] = std::byte{121};
  for (const ScalesOf& each : kScales) {
    if (each.format != format) continue;
    put_f16(block + each.first, scale);
    if (each.second != ScalesOf::kNone) put_f16(block + each.second, scale);
  }
  if (format == "Q8_1") {
    int sum = 0;
    for (std::size_t i = 4; i < 36; ++i) sum += static_cast<std::int8_t>(block[i]);
    put_f16(block + 2, scale * sum);
  }
}

}  // namespace

std::size_t block_bytes(std::string_view format) {
  for (const ops::BlockFormatInfo& each : ops::kBlockFormats) {
    if (each.name == format) return each.bytes;
  }
  return 36;  // Q8_1
}

std::vector<std::byte> blocks_of(std::string_view format, std::size_t count) {
  const std::size_t width = block_bytes(format);
  std::vector<std::byte> blocks(count * width);
  Random random(1);
  for (std::byte& each : blocks) each = static_cast<std::byte>(random.below(256));
  for (std::size_t i = 0; i < count; ++i) put_scales(format, blocks.data() + i * width, random);
  return blocks;
}

std::vector<std::byte> values_of(ops::DType dtype, DataKind kind, std::size_t count) {
  const std::size_t width = size_of(dtype);
  std::vector<std::byte> values(count * width);
  Random random(1 + static_cast<std::uint64_t>(kind));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits =
        is_float(dtype) ? float_bits(dtype, kind, random) : integer_bits(dtype, kind, random);
    std::memcpy(values.data() + i * width, &bits, width);  // little-endian hosts
  }
  return values;
}

std::vector<std::byte> numbers_below(std::size_t limit, ops::DType dtype, std::size_t count,
                                     Numbers numbers) {
  const std::size_t width = size_of(dtype);
  const bool is_signed = info(dtype).kind == ops::NumberKind::kSigned;
  const std::size_t bits = 8 * width - (is_signed ? 1 : 0);
  if (bits < 32) limit = std::min(limit, std::size_t{1} << bits);
  std::vector<std::byte> values(count * width);
  Random random(1);
  std::vector<std::uint64_t> all(numbers == Numbers::kShuffled ? limit : 0);
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t number = 0;
    if (all.empty()) {
      number = random.below(limit);
    } else {
      const std::size_t at = i % limit;
      std::swap(all[at], all[at + random.below(limit - at)]);
      number = all[at];
    }
    std::memcpy(values.data() + i * width, &number, width);  // little-endian hosts
  }
  return values;
}

}  // namespace kiln::bench
