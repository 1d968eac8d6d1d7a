// Blocks of GGUF files as the references see them: each value by itself, from the formats' layouts
// (ggml/docs/gguf.md). Shares nothing with kernels/gguf.
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

// What a value is made of: scale * (quant - zero) + offset.
struct QuantizedValue {
  Real scale = 0;
  int quant = 0, zero = 0;
  Real offset = 0;

  Real value() const { return scale * (quant - zero) + offset; }
};
// Value `j` of a row of blocks.
QuantizedValue value_at(BlockFormat format, const std::byte* blocks, std::size_t j);

// Whether values have an offset; otherwise scale * quant takes no rounding in f32.
bool has_offset(BlockFormat format);

enum class BlockKind {
  kUsual,   // scales as files have them
  kSpecial  // scales of 0 of both signs, negative, subnormal, the largest; every quant at each
            // place
};
std::vector<std::byte> random_blocks(BlockFormat format, BlockKind kind, std::size_t blocks,
                                     Random& random);

// A block of Q8_1: what quantize_q8_1 makes of 32 values.
struct Activation {
  Bits d = 0, s = 0;  // f16
  std::vector<int> quants;
  bool is_tiny = false;  // the step has few digits in f32, and is 0 in f16

  Real step() const { return decode(DType::kF16, d); }
  Real sum() const { return decode(DType::kF16, s); }
};
inline constexpr std::size_t kActivationBytes = 36;
Activation quantized(const float* x);
void store(const Activation& activation, std::byte* block);
Activation load_activation(const std::byte* block);

// ---- products ---------------------------------------------------------------------------------

// Dynamic shared memory with which a launch streams rows (families/streamed_vector.cuh), in blocks of
// so many times 32 threads.
inline std::uint32_t streamed_bytes(BlockFormat format, std::uint32_t waves, std::size_t columns) {
  return tuning::streamed_bytes(static_cast<unsigned>(ops::info(format).bytes),
                                static_cast<unsigned>(ops::info(format).values), waves,
                                static_cast<unsigned>(columns));
}

// And with which one holds its vectors (families/held_vectors.cuh), likewise.
inline std::uint32_t held_bytes(BlockFormat format, std::uint32_t waves) {
  return tuning::held_bytes(tuning::held_row(static_cast<unsigned>(ops::info(format).bytes),
                                             static_cast<unsigned>(ops::info(format).values)),
                            waves);
}

using QuantizedRow = std::vector<QuantizedValue>;
QuantizedRow row_of_blocks(BlockFormat format, const std::byte* blocks, std::size_t columns);

struct Product {
  Real value = 0;
  Real magnitude = 0;  // the sum of the terms' magnitudes
};
// With values of f32.
Product product(const QuantizedRow& row, const float* x);

// With a row of Q8_1. An offset of 32 values is taken times s, an offset of 16 times the quants; a
// zero point times s, or, for kFromQuants, from the weights' quants.
enum class ZeroPoint : std::uint8_t { kTimesSum, kFromQuants };
Product product(BlockFormat format, const QuantizedRow& row, const std::byte* activations,
                ZeroPoint zero = ZeroPoint::kTimesSum);
// How far that may be from the product with the values that the activations were made of: half a
// step of 8 bits and the rounding of the step, and the rounding of s.
Real eight_bit_error(BlockFormat format, const QuantizedRow& row, const float* x);

}  // namespace kiln::conformance
