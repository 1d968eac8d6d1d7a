// The inputs of the benchmark: values of a dtype and a kind of data.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kiln/ops/dtype.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

// Returns the same bytes in every run. Uniform integers are from 0 to 255. Normal ones have a
// deviation of 32, around 0 for signed and around 128 for unsigned types. Negative ones are below
// 0, or in the upper half of an unsigned type. Special ones add 1% of the smallest and the largest
// value of the type, 0 and -1.
std::vector<std::byte> values_of(ops::DType dtype, DataKind kind, std::size_t count);

enum class Numbers : unsigned char {
  kRandom,
  kShuffled,  // in random order; each number occurs before any of them repeats
};
// Returns elements of an integer type from 0 to `limit` - 1, or to the largest one of the type.
std::vector<std::byte> numbers_below(std::size_t limit, ops::DType dtype, std::size_t count,
                                     Numbers numbers = Numbers::kRandom);

// Returns blocks of a format of ops::kBlockFormats, or of "Q8_1". Their bits are random, except for
// the scales, which are from 1/128 to 1/64, and the sums of Q8_1, which match its values.
std::size_t block_bytes(std::string_view format);
std::vector<std::byte> blocks_of(std::string_view format, std::size_t count);

}  // namespace kiln::bench
