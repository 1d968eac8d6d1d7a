#include "examples/gguf_matvec/multiply.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/ops.hpp"

kiln::Result<std::vector<float>> multiply(const kiln::Device& device, const QuantizedMatrix& matrix,
                                          const std::vector<float>& x) {
  const auto weights = device.upload(matrix.blocks);
  if (!weights) return weights.error();
  const auto vector = device.upload(x);
  if (!vector) return vector.error();
  const auto activations = device.allocate(kiln::ops::q8_1_bytes(1, matrix.columns));
  if (!activations) return activations.error();
  const auto out = device.allocate(matrix.rows * sizeof(float));
  if (!out) return out.error();

  const kiln::ops::Launcher launcher(device);
  kiln::ops::QuantizeQ8_1 quantize;
  quantize.columns = matrix.columns;
  quantize.x = vector->data();
  quantize.out = activations->data();
  if (const auto done = launcher.launch(quantize); !done) return done.error();

  kiln::ops::MulMatVec product;
  product.format = matrix.format;
  product.rows = matrix.rows;
  product.columns = matrix.columns;
  product.weights = weights->data();
  product.activations = activations->data();
  product.dst = out->data();
  if (const auto done = launcher.launch(product); !done) return done.error();
  return device.download<float>(*out);
}

kiln::Result<std::vector<float>> dequantize(const kiln::Device& device,
                                            const QuantizedMatrix& matrix) {
  const auto blocks = device.upload(matrix.blocks);
  if (!blocks) return blocks.error();
  const auto out = device.allocate(matrix.rows * matrix.columns * sizeof(float));
  if (!out) return out.error();
  kiln::ops::DequantizeBlocks call;
  call.format = matrix.format;
  call.count = matrix.rows * matrix.columns;
  call.blocks = blocks->data();
  call.out = out->data();
  if (const auto done = kiln::ops::Launcher(device).launch(call); !done) return done.error();
  return device.download<float>(*out);
}

Reference multiply_plainly(const std::vector<float>& weights, std::size_t rows,
                           const std::vector<float>& x) {
  constexpr std::size_t kRun = 32;  // values of x that share a quantization step
  // Half a step, plus the rounding of the step to f16: 2^-11 of up to 127 steps.
  constexpr double kOfStep = 0.5 + 127.0 / 2048;
  Reference reference;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* const of_row = weights.data() + row * x.size();
    double sum = 0, bound = 0;
    for (std::size_t run = 0; run < x.size(); run += kRun) {
      double max_x = 0, max_weight = 0, all_weights = 0, all_products = 0;
      for (std::size_t i = run; i < std::min(run + kRun, x.size()); ++i) {
        sum += double{of_row[i]} * double{x[i]};
        max_x = std::max(max_x, std::fabs(double{x[i]}));
        max_weight = std::max(max_weight, std::fabs(double{of_row[i]}));
        all_weights += std::fabs(double{of_row[i]});
        all_products += std::fabs(double{of_row[i]} * double{x[i]});
      }
      // Quants and their common offset are multiplied separately, and each may be as large as the
      // largest weight. The second term covers sums in f32.
      bound += (all_weights + kRun * max_weight) * kOfStep * max_x / 127 + 1e-5 * all_products;
    }
    reference.values.push_back(sum);
    reference.bounds.push_back(bound);
  }
  return reference;
}

double share_of_bound(const std::vector<float>& values, const Reference& reference) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (values.size() != reference.values.size()) return kWrong;
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double distance = std::fabs(double{values[i]} - reference.values[i]);
    if (!(distance <= reference.bounds[i])) return kWrong;
    if (distance > 0) most = std::max(most, distance / reference.bounds[i]);
  }
  return most;
}
