// What the kernels that compute convolutions as matrix products are told about one
// (kernels/tuning/convolve.hpp).
#pragma once

#include <array>
#include <cstring>

#include "kernels/tuning/convolve.hpp"
#include "kiln/ops/conv.hpp"

namespace kiln::ops {

// The kernels' parameters, as 64-bit numbers. With one spatial dim, an image has one row.
struct Described {
  tuning::ConvolveShape shape;
  tuning::ConvolveDim rows, columns;
  bool transposed;

  std::size_t classes(const tuning::ConvolveDim& dim) const {
    return transposed ? dim.classes() : 1;
  }
  tuning::ConvolveAxis axis(const tuning::ConvolveDim& dim, unsigned number) const {
    return transposed ? dim.transposed(number) : dim.plain();
  }
};

// Errors (kInvalidInput): numbers that the kernels do not hold, too many classes.
Result<Described> describe(const Convolution& call, const Extents& out);

// Appends a struct of 64-bit numbers.
template <typename T>
void append_words(LayoutBlock& block, const T& value) {
  static_assert(sizeof value % sizeof(std::size_t) == 0);
  std::array<std::size_t, sizeof value / sizeof(std::size_t)> words;
  std::memcpy(words.data(), &value, sizeof value);
  block.append(words.begin(), words.end());
}

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace kiln::ops
