// Blocks of GGUF files as the references define them: each value is decoded by itself, from the
// layouts of the formats (ggml/docs/gguf.md). Shares nothing with kernels/gguf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "expected.hpp"
#include "kernels/tuning/quantized.hpp"
#include "kernels/tuning/streamed_vector.hpp"
#include "kiln/ops/quantized.hpp"
#include "values.hpp"

namespace kiln::conformance {

using ops::BlockFormat;

// The parts of a value: scale * (quant - zero) + offset.
struct QuantizedValue {
  Real scale = 0;
  int quant = 0, zero = 0;
  Real offset = 0;

  Real value() const { return scale * (quant - zero) + offset; }
};
// Returns value `j` of a row of blocks.
QuantizedValue value_at(BlockFormat format, const std::byte* blocks, std::size_t j);

// True if values have an offset. Without one, scale * quant is exact in f32.
bool has_offset(BlockFormat format);

enum class BlockKind {
  kUsual,   // scales as in real files
  kSpecial  // scales: 0 of both signs, negative, subnormal, the largest; every quant at each place
};
std::vector<std::byte> random_blocks(BlockFormat format, BlockKind kind, std::size_t blocks,
                                     Random& random);

// A block of Q8_1: the result of quantize_q8_1 for 32 values.
struct Activation {
  Bits d = 0, s = 0;  // f16
  std::vector<int> quants;
  bool is_tiny = false;  // the step has few digits in f32, and is 0 in f16

  Real step() const { return decode(DType::kF16, d); }
  Real sum() const { return decode(DType::kF16, s); }
};
inline constexpr std::size_t kActivationBytes = 36;
// Rows that a launch quantizes at most.
inline constexpr std::size_t kMaxActivationRows = 65535;
Activation quantized(const float* x);
void store(const Activation& activation, std::byte* block);
Activation load_activation(const std::byte* block);

// ---- products ---------------------------------------------------------------------------------

// Returns the dynamic shared memory of a launch that streams rows (families/streamed_vector.cuh),
// for blocks of `waves` times 32 threads.
inline std::uint32_t streamed_bytes(BlockFormat format, std::uint32_t waves, std::size_t columns) {
  return tuning::streamed_bytes(static_cast<unsigned>(ops::info(format).bytes),
                                static_cast<unsigned>(ops::info(format).values), waves,
                                static_cast<unsigned>(columns));
}

// Returns the dynamic shared memory of a launch that holds its vectors (families/held_vectors.cuh),
// for such blocks.
inline std::uint32_t held_bytes(BlockFormat format, std::uint32_t waves) {
  return tuning::held_bytes(tuning::held_row(static_cast<unsigned>(ops::info(format).bytes),
                                             static_cast<unsigned>(ops::info(format).values)),
                            waves);
}

using QuantizedRow = std::vector<QuantizedValue>;
QuantizedRow row_of_blocks(BlockFormat format, const std::byte* blocks, std::size_t columns);

struct Product {
  Real value = 0;
  Real magnitude = 0;  // the sum of the magnitudes of the terms
};
// The product with f32 values.
Product product(const QuantizedRow& row, const float* x);

// The product with a row of Q8_1. An offset of 32 values is multiplied by s, an offset of 16 values
// by the sum of their quants. A zero point is multiplied by s or, with kFromQuants, subtracted from
// the quants of the weights.
enum class ZeroPoint : std::uint8_t { kTimesSum, kFromQuants };
Product product(BlockFormat format, const QuantizedRow& row, const std::byte* activations,
                ZeroPoint zero = ZeroPoint::kTimesSum);
// Returns the permitted difference of this product from the product with the original values of the
// activations: half a step of 8 bits, the rounding of the step, and the rounding of s.
Real eight_bit_error(BlockFormat format, const QuantizedRow& row, const float* x);

}  // namespace kiln::conformance
