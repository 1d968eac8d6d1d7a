// Products with quantized weights where the vendor's matrix library is at hand, too.
//
//   auto library = kiln::ops::MatrixMultiplier::open(device, stream);
//   kiln::ops::QuantizedMultiplier multiplier(launcher, *library);  // a Launcher of the same stream
//   auto done = multiplier.run(product);                            // a QuantizedMatmul
//
// Many activations times one matrix, or a pair of them, go by the library: weights and activations
// as f16, and products of f16 whose sums are f32. Of 512 activations that takes seven to nine tenths
// of the time of our kernels; up to 256 it is also more exact, as it does not round activations to 8
// bits. All else goes the way of Launcher::launch(product).
//
// Numbers. Activations of f32 are rounded to f16's 11 bits, those of bf16 keep theirs. A vector
// whose largest finite magnitude is above 65504 or below 2^-6 is multiplied by a power of two
// before, and its results by the inverse after, so that none overflows and results lose nothing;
// NaN and infinities make NaN and infinities, of their own vector alone. Weights are rounded to
// f16, and infinite beyond 65504. Results are rounded once, from f32.
#pragma once

#include "kiln/ops/matmul.hpp"
#include "kiln/ops/quantized_matmul.hpp"

namespace kiln::ops {

// Whether a product goes by the library: one matrix or a pair, on a GPU, and activations enough, or
// a format that no kernel takes.
bool goes_by_library(const QuantizedMatmul& call, const DeviceInfo& device);

// So many weights are f16 at a time: parts of a matrix, of 128 rows at least.
inline constexpr std::size_t kWeightsAtOnce = std::size_t{1} << 26;

// What the library's way takes of the Launcher's memory: 2 bytes for each of these weights,
// 2 * vectors * columns bytes for activations other than f16, and 4 * vectors * rows for f32
// results that something else is made of: those of the gate, and those of `weights` where the
// results are not f32 (nor plain f16 of f16).
std::size_t library_memory(const QuantizedMatmul& call,
                           std::size_t weights_at_once = kWeightsAtOnce);

// Thread-safety: as of the Launcher. Products take turns in the Launcher's memory; those of two
// Launchers, each with a library of its own, do not.
class QuantizedMultiplier {
 public:
  // Both outlive it, and work on the same stream of the same device.
  QuantizedMultiplier(const Launcher& launcher, const MatrixMultiplier& library,
                      std::size_t weights_at_once = kWeightsAtOnce)
      : launcher_(&launcher), library_(&library), weights_at_once_(weights_at_once) {}

  // Starts the product and returns. Errors: those of Launcher::launch(call) and of
  // MatrixMultiplier::run.
  Result<void> run(const QuantizedMatmul& call) const;
  // Does what is done once, and starts nothing: run() can then be captured into a graph.
  Result<void> prepare(const QuantizedMatmul& call) const;

  // The same by the library, however many activations there are, and on the host, too. Errors:
  // kInvalidInput for a mixture of experts.
  Result<void> run_by_library(const QuantizedMatmul& call) const;
  Result<void> prepare_by_library(const QuantizedMatmul& call) const;

 private:
  const Launcher* launcher_;
  const MatrixMultiplier* library_;
  std::size_t weights_at_once_;
};

}  // namespace kiln::ops
