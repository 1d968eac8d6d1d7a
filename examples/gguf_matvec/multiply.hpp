// A quantized matrix times a vector, and what the result may be.
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/ops/quantized.hpp"

// Rows of `columns` values each, in blocks of a format.
struct QuantizedMatrix {
  kiln::ops::BlockFormat format = kiln::ops::BlockFormat::kQ4_0;
  std::size_t rows = 0, columns = 0;
  std::vector<std::byte> blocks;
};

// By kiln's kernels: x is rounded to 8 bits (Q8_1), as is usual for such products.
kiln::Result<std::vector<float>> multiply(const kiln::Device& device, const QuantizedMatrix& matrix,
                                          const std::vector<float>& x);

// The matrix's values.
kiln::Result<std::vector<float>> dequantize(const kiln::Device& device,
                                            const QuantizedMatrix& matrix);

// The same product by plain loops in f64, and how far a product of x in 8 bits may be from it.
struct Reference {
  std::vector<double> values, bounds;
};
Reference multiply_plainly(const std::vector<float>& weights, std::size_t rows,
                           const std::vector<float>& x);

// The greatest distance from the reference, as a share of the bound: right is 1 or less. More than
// 1 where the numbers of values differ or one is NaN.
double share_of_bound(const std::vector<float>& values, const Reference& reference);
