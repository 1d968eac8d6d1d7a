// The product of a quantized matrix and a vector, and the bounds of its result.
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/ops/quantized.hpp"

// Rows of `columns` values, in blocks of a format.
struct QuantizedMatrix {
  kiln::ops::BlockFormat format = kiln::ops::BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  std::vector<std::byte> blocks;
};

// Multiplies with kiln's kernels. x is rounded to 8 bits (Q8_1), as is usual for such products.
kiln::Result<std::vector<float>> multiply(const kiln::Device& device, const QuantizedMatrix& matrix,
                                          const std::vector<float>& x);

// Returns the values of the matrix.
kiln::Result<std::vector<float>> dequantize(const kiln::Device& device,
                                            const QuantizedMatrix& matrix);

// The same product from plain loops in f64, and the error bounds of a product with 8-bit x.
struct Reference {
  std::vector<double> values, bounds;
};
Reference multiply_plainly(const std::vector<float>& weights, std::size_t rows,
                           const std::vector<float>& x);

// Returns the greatest distance from the reference as a share of the bound: 1 or less is right.
// Returns more than 1 if the number of values differs or one is NaN.
double share_of_bound(const std::vector<float>& values, const Reference& reference);
