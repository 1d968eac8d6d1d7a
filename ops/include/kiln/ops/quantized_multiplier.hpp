// Products with quantized weights where the vendor's matrix library is at hand, too.
//
//   auto library = kiln::ops::MatrixMultiplier::open(device, stream);
//   kiln::ops::QuantizedMultiplier multiplier(launcher, *library);   // a Launcher of the same stream
//   auto done = multiplier.run(product);                            // a QuantizedMatmul
//
// Many activations of f16 with results of f16 go by two steps: the weights as f16, in memory of the
// Launcher's, and one product of the library, whose sums are f32. That takes less than half the time of
// the kernels for quantized weights, and does not round activations to 8 bits. Weights beyond 65504
// are infinite there. All else goes the way of Launcher::launch(product).
#pragma once

#include "kiln/ops/matmul.hpp"
#include "kiln/ops/quantized_matmul.hpp"

namespace kiln::ops {

// Whether a product goes by the library: one matrix on a GPU, f16, and activations enough. Its steps
// take 2 * rows * columns bytes of the Launcher's memory.
bool goes_by_library(const QuantizedMatmul& call, const DeviceInfo& device);

// Thread-safety: as of the Launcher.
class QuantizedMultiplier {
 public:
  // Both outlive it, and work on the same stream of the same device.
  QuantizedMultiplier(const Launcher& launcher, const MatrixMultiplier& library)
      : launcher_(&launcher), library_(&library) {}

  // Starts the product and returns. Errors: those of Launcher::launch(call) and of
  // MatrixMultiplier::run.
  Result<void> run(const QuantizedMatmul& call) const;
  // Does what is done once, and starts nothing: run() can then be captured into a graph.
  Result<void> prepare(const QuantizedMatmul& call) const;

 private:
  const Launcher* launcher_;
  const MatrixMultiplier* library_;
};

}  // namespace kiln::ops
