// Products with quantized weights that may also use the vendor's matrix library.
//
//   auto library = kiln::ops::MatrixMultiplier::open(device, stream);
//   kiln::ops::QuantizedMultiplier multiplier(launcher, *library);  // a Launcher of the same stream
//   auto done = multiplier.run(product);                            // a QuantizedMatmul
//
// The library multiplies many activations with one matrix, or with a pair of them: weights and
// activations become f16, and sums are f32. For 512 activations, this takes seven to nine tenths of
// the time of kiln's kernels. Up to 256 activations it is also more exact, since it does not round
// activations to 8 bits. All other products go to Launcher::launch(product).
//
// Numbers: activations in f32 are rounded to the 11 bits of f16; those in bf16 keep their bits. A
// vector whose largest finite magnitude is above 65504 or below 2^-6 is first multiplied by a power
// of two, and its results by the inverse, so that nothing overflows and results lose no bits. NaN
// and infinities give NaN and infinities, and only in the results of their own vector. Weights are
// rounded to f16, and become infinite beyond 65504. Results are rounded once, from f32.
#pragma once

#include "kiln/ops/matmul.hpp"
#include "kiln/ops/quantized_matmul.hpp"

namespace kiln::ops {

// Returns true if a product goes to the library: one matrix or a pair, on a GPU, with enough
// activations or with a format that no kernel takes.
bool goes_by_library(const QuantizedMatmul& call, const DeviceInfo& device);

// Number of weights that are f16 at a time. Larger matrices are converted in parts of at least 128
// rows.
inline constexpr std::size_t kWeightsAtOnce = std::size_t{1} << 26;

// Returns the bytes of the Launcher's scratch memory that a product by the library needs. That is
// the sum of these parts, each rounded up to 256 bytes:
//   2 for each weight that is f16 at a time;
//   2 * vectors * columns, and 4 * vectors, for activations that are not f16;
//   4 * vectors * rows for the gate's results, if there is a gate;
//   4 * vectors * rows for the results of `weights`, unless `out` is f32, or f16 made from f16
//   activations without a gate.
// Returns 0 for a product that run_by_library() refuses.
std::size_t library_memory(const QuantizedMatmul& call,
                           std::size_t weights_at_once = kWeightsAtOnce);

// Thread-safety: like the Launcher's. Products take turns in the Launcher's scratch memory.
// Products of two Launchers, each with its own library, do not.
class QuantizedMultiplier {
 public:
  // Both must outlive the multiplier, and work on the same stream of the same device.
  QuantizedMultiplier(const Launcher& launcher, const MatrixMultiplier& library,
                      std::size_t weights_at_once = kWeightsAtOnce)
      : launcher_(&launcher), library_(&library), weights_at_once_(weights_at_once) {}

  // Starts the product and returns. Errors: those of Launcher::launch(call) and of
  // MatrixMultiplier::run.
  Result<void> run(const QuantizedMatmul& call) const;
  // Does the one-time work and starts nothing. Afterwards, run() can be captured into a graph.
  Result<void> prepare(const QuantizedMatmul& call) const;

  // Do the same with the library, for any number of activations, and also on the host. Errors:
  // also kInvalidInput for a mixture of experts.
  Result<void> run_by_library(const QuantizedMatmul& call) const;
  Result<void> prepare_by_library(const QuantizedMatmul& call) const;

 private:
  const Launcher* launcher_;
  const MatrixMultiplier* library_;
  std::size_t weights_at_once_;
};

}  // namespace kiln::ops
