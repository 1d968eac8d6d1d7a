#include "quantized_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kiln::conformance {
namespace {

unsigned byte_at(const std::byte* block, std::size_t offset) {
  return std::to_integer<unsigned>(block[offset]);
}
int signed_byte_at(const std::byte* block, std::size_t offset) {
  const int byte = static_cast<int>(byte_at(block, offset));
  return byte < 128 ? byte : byte - 256;
}
Real half_at(const std::byte* block, std::size_t offset) {
  return decode(DType::kF16, byte_at(block, offset) | byte_at(block, offset + 1) << 8);
}

// Returns the four bits of value `j` of 32, whose bytes begin at `qs`. The first half of the values
// is in the low halves of the bytes.
int nibble(const std::byte* block, std::size_t qs, std::size_t j) {
  const unsigned byte = byte_at(block, qs + j % 16);
  return static_cast<int>(j < 16 ? byte & 15 : byte >> 4);
}
// The same for 256 values, in chunks of 64.
int k_nibble(const std::byte* block, std::size_t qs, std::size_t j) {
  const unsigned byte = byte_at(block, qs + 32 * (j / 64) + j % 32);
  return static_cast<int>(j % 64 < 32 ? byte & 15 : byte >> 4);
}
int fifth_bit(const std::byte* block, std::size_t qh, std::size_t j) {
  return static_cast<int>(byte_at(block, qh + j / 8) >> j % 8 & 1) << 4;
}
// Returns the two bits of value `j` of 256. Byte r % 32 of each half has those of r, r + 32, r + 64
// and r + 96.
int two_bits(const std::byte* block, std::size_t qs, std::size_t j) {
  const std::size_t half = j / 128, r = j % 128;
  return static_cast<int>(byte_at(block, qs + 32 * half + r % 32) >> 2 * (r / 32) & 3);
}

struct ScaleAndMinimum {
  unsigned scale, minimum;
};
// Returns pair `i` of the eight pairs in the twelve bytes from `at` on.
ScaleAndMinimum six_bit_pair(const std::byte* block, std::size_t at, std::size_t i) {
  const auto b = [&](std::size_t k) { return byte_at(block, at + k); };
  if (i < 4) return {b(i) & 63, b(i + 4) & 63};
  return {(b(i + 4) & 15) | (b(i - 4) >> 6) << 4, (b(i + 4) >> 4) | (b(i) >> 6) << 4};
}
// Returns number `g` of the sixteen numbers in the twelve bytes from `at` on.
int six_bits(const std::byte* block, std::size_t at, std::size_t g) {
  const unsigned low = g < 8 ? byte_at(block, at + g) & 15 : byte_at(block, at + g - 8) >> 4;
  const unsigned high = byte_at(block, at + 8 + g % 4) >> 2 * (g / 4) & 3;
  return static_cast<int>(low | high << 4);
}

QuantizedValue of_block(BlockFormat format, const std::byte* b, std::size_t j) {
  switch (format) {
    case BlockFormat::kQ4_0: return {half_at(b, 0), nibble(b, 2, j), 8};
    case BlockFormat::kQ4_1: return {half_at(b, 0), nibble(b, 4, j), 0, half_at(b, 2)};
    case BlockFormat::kQ5_0: return {half_at(b, 0), nibble(b, 6, j) | fifth_bit(b, 2, j), 16};
    case BlockFormat::kQ5_1:
      return {half_at(b, 0), nibble(b, 8, j) | fifth_bit(b, 4, j), 0, half_at(b, 2)};
    case BlockFormat::kQ8_0: return {half_at(b, 0), signed_byte_at(b, 2 + j)};
    case BlockFormat::kQ2_K: {
      const unsigned scale = byte_at(b, j / 16);
      return {half_at(b, 80) * (scale & 15), two_bits(b, 16, j), 0, -half_at(b, 82) * (scale >> 4)};
    }
    case BlockFormat::kQ3_K: {
      const bool is_high = (byte_at(b, j % 32) >> j / 32 & 1) != 0;
      return {half_at(b, 108) * (six_bits(b, 96, j / 16) - 32),
              two_bits(b, 32, j) - (is_high ? 0 : 4)};
    }
    case BlockFormat::kQ4_K:
    case BlockFormat::kQ5_K: {
      const ScaleAndMinimum pair = six_bit_pair(b, 4, j / 32);
      const bool has_fifth = format == BlockFormat::kQ5_K;
      int quant = k_nibble(b, has_fifth ? 48 : 16, j);
      if (has_fifth) quant |= static_cast<int>(byte_at(b, 16 + j % 32) >> j / 32 & 1) << 4;
      return {half_at(b, 0) * pair.scale, quant, 0, -half_at(b, 2) * pair.minimum};
    }
    case BlockFormat::kQ6_K: {
      const std::size_t half = j / 128, r = j % 128;
      const unsigned low = byte_at(b, 64 * half + r % 64);
      const int high = two_bits(b, 128, j);
      const int quant = static_cast<int>(r < 64 ? low & 15 : low >> 4) | high << 4;
      return {half_at(b, 208) * signed_byte_at(b, 192 + j / 16), quant - 32};
    }
    case BlockFormat::kIQ4_NL: {
      static constexpr int kTable[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113};
      return {half_at(b, 0), kTable[nibble(b, 2, j)]};
    }
    case BlockFormat::kMXFP4: {
      // E2M1 values times two; the highest bit is the sign.
      static constexpr int kTable[] = {0, 1, 2, 3, 4, 6, 8, 12};
      const int number = nibble(b, 1, j), size = kTable[number & 7];
      return {std::ldexp(1.0L, static_cast<int>(byte_at(b, 0)) - 128), number < 8 ? size : -size};
    }
    case BlockFormat::kQ8_K: {
      float d = 0;
      std::memcpy(&d, b, sizeof d);
      return {static_cast<Real>(d), signed_byte_at(b, 4 + j)};
    }
  }
  return {};
}

// Returns the offsets of the f16 scales of a block.
std::vector<std::size_t> places_of_scales(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ4_0:
    case BlockFormat::kQ5_0:
    case BlockFormat::kQ8_0:
    case BlockFormat::kIQ4_NL: return {0};
    case BlockFormat::kQ4_1:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ4_K:
    case BlockFormat::kQ5_K: return {0, 2};
    case BlockFormat::kQ2_K: return {80, 82};
    case BlockFormat::kQ3_K: return {108};
    case BlockFormat::kQ6_K: return {208};
    case BlockFormat::kMXFP4:
    case BlockFormat::kQ8_K: return {};
  }
  return {};
}

Real scale_of(BlockKind kind, std::size_t i, Random& random) {
  // Zeros, the smallest and the largest subnormal number, the smallest normal number, ones, the
  // largest number.
  static constexpr Real kSpecial[] = {0.0L,  -0.0L, 0x1p-24L, -0x3ffp-24L, 0x1p-14L, 1.0L,
                                      -1.0L, 0.37L, 65504.0L, -65504.0L,   -0.001L,  3.0L};
  if (kind == BlockKind::kSpecial) return kSpecial[i % std::size(kSpecial)];
  return static_cast<Real>(random.uniform(0.001, 0.03)) * (random.below(3) == 0 ? -1 : 1);
}

}  // namespace

QuantizedValue value_at(BlockFormat format, const std::byte* blocks, std::size_t j) {
  const ops::BlockFormatInfo& of = ops::info(format);
  return of_block(format, blocks + j / of.values * of.bytes, j % of.values);
}

bool has_offset(BlockFormat format) {
  return format == BlockFormat::kQ4_1 || format == BlockFormat::kQ5_1 ||
         format == BlockFormat::kQ2_K || format == BlockFormat::kQ4_K ||
         format == BlockFormat::kQ5_K;
}

std::vector<std::byte> random_blocks(BlockFormat format, BlockKind kind, std::size_t blocks,
                                     Random& random) {
  const std::size_t bytes = ops::info(format).bytes;
  std::vector<std::byte> content(blocks * bytes);
  const std::size_t first = random.below(12);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::byte* const block = content.data() + b * bytes;
    for (std::size_t i = 0; i < bytes; ++i) {
      // 16 blocks have every half byte at each place; 8 blocks of whole bytes have every byte.
      const std::size_t counted = format == BlockFormat::kQ8_0 ? i + 32 * b : 11 * i + 17 * b;
      const std::size_t byte = kind == BlockKind::kSpecial && b < 16 ? counted : random.bits();
      block[i] = static_cast<std::byte>(byte & 255);
    }
    for (const std::size_t at : places_of_scales(format)) {
      const Bits bits = encode(DType::kF16, scale_of(kind, first + b + 5 * (at & 2), random));
      block[at] = static_cast<std::byte>(bits & 255);
      block[at + 1] = static_cast<std::byte>(bits >> 8);
    }
    if (format == BlockFormat::kMXFP4) {
      // The smallest two are subnormal numbers. The largest one times 12 overflows f32.
      static constexpr unsigned kSpecial[] = {0, 1, 2, 3, 110, 127, 128, 129, 135, 150, 170, 126};
      const std::size_t at = (first + b) % std::size(kSpecial);
      block[0] = static_cast<std::byte>(kind == BlockKind::kSpecial ? kSpecial[at]
                                                                    : 118 + random.below(8));
    }
    if (format == BlockFormat::kQ8_K) {
      const auto d = static_cast<float>(scale_of(kind, first + b, random));
      std::memcpy(block, &d, sizeof d);
    }
  }
  return content;
}

Activation quantized(const float* x) {
  Activation made;
  float largest = 0;
  Real sum = 0;
  for (std::size_t j = 0; j < 32; ++j) {
    largest = std::fabs(x[j]) > largest ? std::fabs(x[j]) : largest;
    sum += static_cast<Real>(x[j]);
  }
  const float step = largest / 127;
  made.is_tiny = largest != 0 && step < 0x1p-126f;
  made.d = encode(DType::kF16, static_cast<Real>(step));
  made.s = encode(DType::kF16, sum);
  for (std::size_t j = 0; j < 32; ++j) {
    const bool is_zero = largest == 0 || made.is_tiny;
    made.quants.push_back(is_zero ? 0 : static_cast<int>(std::round(x[j] / step)));
  }
  return made;
}

void store(const Activation& activation, std::byte* block) {
  store(DType::kF16, activation.d, block);
  store(DType::kF16, activation.s, block + 2);
  for (std::size_t j = 0; j < 32; ++j) {
    block[4 + j] = static_cast<std::byte>(activation.quants[j] & 255);
  }
}

Activation load_activation(const std::byte* block) {
  Activation made;
  made.d = load(DType::kF16, block);
  made.s = load(DType::kF16, block + 2);
  for (std::size_t j = 0; j < 32; ++j) made.quants.push_back(signed_byte_at(block, 4 + j));
  return made;
}

QuantizedRow row_of_blocks(BlockFormat format, const std::byte* blocks, std::size_t columns) {
  QuantizedRow row;
  for (std::size_t j = 0; j < columns; ++j) row.push_back(value_at(format, blocks, j));
  return row;
}

Product product(const QuantizedRow& row, const float* x) {
  Product made;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Real factor = static_cast<Real>(x[j]);
    made.value += row[j].value() * factor;
    made.magnitude +=
        (std::fabs(row[j].scale * (row[j].quant - row[j].zero)) + std::fabs(row[j].offset)) *
        std::fabs(factor);
  }
  return made;
}

Product product(BlockFormat format, const QuantizedRow& row, const std::byte* activations,
                ZeroPoint zero) {
  Product made;
  const auto add = [&](Real term) {
    made.value += term;
    made.magnitude += std::fabs(term);
  };
  for (std::size_t first = 0; first < row.size(); first += 32) {
    const Activation x = load_activation(activations + first / 32 * kActivationBytes);
    const Real step = x.step(), sum = x.sum();
    const bool by_sum = zero == ZeroPoint::kTimesSum;
    if (by_sum) add(-row[first].zero * row[first].scale * sum);
    if (format != BlockFormat::kQ2_K) add(row[first].offset * sum);
    for (std::size_t j = 0; j < 32; ++j) {
      const QuantizedValue& value = row[first + j];
      add(value.scale * (value.quant - (by_sum ? 0 : value.zero)) * step * x.quants[j]);
      if (format == BlockFormat::kQ2_K) add(value.offset * step * x.quants[j]);
    }
  }
  return made;
}

Real eight_bit_error(BlockFormat format, const QuantizedRow& row, const float* x) {
  // Half a step of f16 at 1, and of its subnormal values.
  constexpr Real kHalfStep = 0x1p-11L, kMin = 0x1p-25L;
  Real error = 0;
  for (std::size_t first = 0; first < row.size(); first += 32) {
    Real largest = 0, sum = 0, magnitude = 0;
    for (std::size_t j = first; j < first + 32; ++j) {
      const Real value = static_cast<Real>(x[j]);
      largest = std::max(largest, std::fabs(value));
      sum += value;
      magnitude += std::fabs(value);
    }
    const Real of_value = largest / 226 + 127 * kMin;
    const Real of_sum = std::fabs(sum) * kHalfStep + kMin + 32 * 0x1p-24L * magnitude;
    for (std::size_t j = first; j < first + 32; ++j) {
      error += std::fabs(row[j].scale * row[j].quant) * of_value;
      if (format == BlockFormat::kQ2_K) error += std::fabs(row[j].offset) * of_value;
    }
    error += std::fabs(row[first].scale * row[first].zero) * of_sum;
    if (format != BlockFormat::kQ2_K) error += std::fabs(row[first].offset) * of_sum;
  }
  return error;
}

}  // namespace kiln::conformance
