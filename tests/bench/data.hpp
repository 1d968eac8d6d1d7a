// The inputs of the benchmark: values of a dtype and a kind.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kiln/ops/dtype.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

// The same bytes in every run. Integers: 0 to 255, or around 0 with a deviation of 32 (around 128
// where there is no sign), or below 0 (the upper half of the type where there is no sign); special
// ones add 1% of both ends of the type, 0 and -1.
std::vector<std::byte> values_of(ops::DType dtype, DataKind kind, std::size_t count);

enum class Numbers : unsigned char {
  kRandom,
  kShuffled,  // all of them, in no order, before any comes again
};
// Elements of an integer type from 0 to `limit` - 1.
std::vector<std::byte> numbers_below(std::size_t limit, ops::DType dtype, std::size_t count,
                                     Numbers numbers = Numbers::kRandom);

// Blocks of a format of ops::kBlockFormats, or of "Q8_1": any bits, but for the scales, which are
// from 1/128 to 1/64, and Q8_1's sums, which are those of its values.
std::size_t block_bytes(std::string_view format);
std::vector<std::byte> blocks_of(std::string_view format, std::size_t count);

}  // namespace kiln::bench
