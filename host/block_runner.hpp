// Runs the device threads of one block at a time, on one OS thread.
//
// A fiber runs threads one after the other, block after block, until one of them has to wait for
// others (at a barrier or a shuffle). The next threads then continue on another fiber. So a kernel
// that never waits is one plain loop on one stack, a kernel that waits pays only for its waits, and
// nobody has to declare which kind a kernel is.
//
// Not thread-safe: one BlockRunner per worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/device/host_abi.hpp"
#include "kiln/result.hpp"

namespace kiln::host {

// Knows the buffers of the device, for messages.
class AddressDescriber {
 public:
  // Says where an address lies that a kernel may not touch: "4 bytes past the end of argument 2 (a
  // buffer of 1024 bytes)". Empty if it is not next to a buffer.
  virtual std::string describe(std::uint64_t address) const = 0;

 protected:
  ~AddressDescriber() = default;
};

// The parameters of a launch, which are the same for all its blocks.
struct Launch {
  std::string kernel;
  RunFunction run = nullptr;
  const void* const* arguments = nullptr;
  Index3 grid{1, 1, 1};
  Index3 block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t wave_width = 32;
  const AddressDescriber* describer = nullptr;
  std::uint64_t serial = 0;  // not zero, and different for each launch
  void* order = nullptr;     // every thread does order_release() on it at its end (fiber.hpp)
};

// Limit on the shared memory of a block, static and dynamic together: that of every AMD GPU.
inline constexpr std::size_t kSharedMemoryBytes = 64 * 1024;

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  struct Failure {
    std::uint64_t block;  // linear
    Error error;          // names kernel, block and thread
  };

  // Runs `count` blocks of the grid, starting at linear block `first`, to their end or to the first
  // failure. The runner remains usable after a failure. Stacks are not unwound: an abandoned device
  // thread never runs its destructors.
  std::optional<Failure> run(const Launch& launch, std::uint64_t first, std::uint64_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::host
