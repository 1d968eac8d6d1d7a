// Measures times on an NVIDIA GPU, including reference times: a copy, a read, and a launch that
// does nothing.
//
// Wraps the few driver calls that this needs, and opens libcuda itself: the runtime deliberately
// has no graphs. Work is put on a stream of the runtime, so launches are timed as any program would
// make them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/function.hpp"
#include "kiln/result.hpp"

namespace kiln::bench {

class CudaClock {
 public:
  // Makes the primary context of the device current on this thread and keeps it current.
  static Result<CudaClock> open(int ordinal);
  CudaClock(CudaClock&&) noexcept;
  CudaClock& operator=(CudaClock&&) noexcept;
  ~CudaClock();

  // Puts the i-th piece of work on the stream.
  using Work = std::function<Result<void>(std::size_t i)>;
  struct Plan {
    std::size_t pieces = 1;  // per sample
    std::size_t samples = 31;
  };
  // Returns the median microseconds of a piece: graph_us() of a graph of `pieces` pieces,
  // stream_us() of work put directly on the stream.
  Result<double> graph_us(StreamRef stream, const Plan& plan, const Work& work) const;
  // The same for several works. Their samples alternate, so that all of them see the same clocks. A
  // slow work has fewer pieces in a sample, so that it takes at most kSampleUs. If the samples
  // would take longer than `budget_us` together, there are fewer of them, but at least
  // kMinSamples, or one if it takes so long that clocks do not matter.
  static constexpr double kSampleUs = 1000;
  static constexpr std::size_t kMinSamples = 5;
  Result<std::vector<double>> graphs_us(StreamRef stream, const Plan& plan, double budget_us,
                                        const std::vector<Work>& works) const;
  Result<double> stream_us(StreamRef stream, const Plan& plan, const Work& work) const;

  Result<void> copy(StreamRef stream, void* target, const void* source, std::size_t bytes) const;
  // Copies by a kernel of 256 threads that move 16 bytes each. `bytes` is a multiple of 16.
  Result<void> copy_by_kernel(StreamRef stream, void* target, const void* source,
                              std::size_t bytes) const;
  // Reads `bytes`, a multiple of 16, by a kernel of 256 threads that read 64 bytes each, as far as
  // there are so many. Writes nothing: `target`, of 4 bytes, only keeps the compiler from removing
  // the reads.
  Result<void> read_by_kernel(StreamRef stream, void* target, const void* source,
                              std::size_t bytes) const;
  Result<void> launch_nothing(StreamRef stream, Dim3 grid, Dim3 block) const;

  // Loads an image that the runtime does not know. Modules stay loaded for the lifetime of the
  // clock.
  Result<void*> load_module(const void* image);
  Result<void*> find_function(void* module, const std::string& kernel) const;
  Result<void> launch(StreamRef stream, void* function, Dim3 grid, Dim3 block,
                      unsigned shared_bytes, const void* const* arguments) const;

 private:
  struct State;
  explicit CudaClock(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::bench
