// Times work on an NVIDIA GPU, and the yardsticks: a copy, a read, and a launch that does nothing.
//
// The runtime has no graphs, and should not; this wraps the few driver calls that measuring needs,
// and opens libcuda by itself. Work is given to a stream of the runtime, so its launches are timed
// as any program would make them.
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
  // Makes the primary context of the device current on this thread, and keeps it so.
  static Result<CudaClock> open(int ordinal);
  CudaClock(CudaClock&&) noexcept;
  CudaClock& operator=(CudaClock&&) noexcept;
  ~CudaClock();

  // Puts the i-th piece of work on the stream.
  using Work = std::function<Result<void>(std::size_t i)>;
  struct Plan {
    std::size_t pieces = 1;  // in one sample
    std::size_t samples = 31;
  };
  // Median microseconds of a piece: of a graph of `pieces` pieces, or of the stream itself.
  Result<double> graph_us(StreamRef stream, const Plan& plan, const Work& work) const;
  // The same for several, whose samples take turns, so that all of them meet the same clocks. A slow one's
  // sample has fewer pieces, as many as kSampleUs hold. Fewer samples, but kFewestSamples at least, where they
  // would take longer than `budget_us` together; one where it takes so long that clocks do not matter.
  static constexpr double kSampleUs = 1000;
  static constexpr std::size_t kFewestSamples = 5;
  Result<std::vector<double>> graphs_us(StreamRef stream, const Plan& plan, double budget_us,
                                        const std::vector<Work>& works) const;
  Result<double> stream_us(StreamRef stream, const Plan& plan, const Work& work) const;

  Result<void> copy(StreamRef stream, void* target, const void* source, std::size_t bytes) const;
  // The same by a kernel of 256 threads that move 16 bytes each; `bytes` is a multiple of 16.
  Result<void> copy_by_kernel(StreamRef stream, void* target, const void* source,
                              std::size_t bytes) const;
  // Reads `bytes`, a multiple of 16, by a kernel of 256 threads that read 64 bytes each where there
  // are as many. Writes nothing: `target`, of 4 bytes, only keeps the reads from being left out.
  Result<void> read_by_kernel(StreamRef stream, void* target, const void* source,
                              std::size_t bytes) const;
  Result<void> launch_nothing(StreamRef stream, Dim3 grid, Dim3 block) const;

  // An image that the runtime does not know. Modules stay loaded as long as the clock.
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
