// Runs the threads of one block at a time, on one OS thread.
//
// A fiber runs threads one after the other, block after block, until one of them has to wait for
// others (a barrier, a shuffle); the next threads then go on on another fiber. So a kernel that
// never waits is one plain loop on one stack, a kernel that waits pays for what it uses, and nobody
// has to say which it is.
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

// Who knows the device's buffers.
class NamesPlaces {
 public:
  // Where an address lies that a kernel may not touch, for a message: "4 bytes past the end of argument 2 (a
  // buffer of 1024 bytes)". Empty: it is beside no buffer.
  virtual std::string place_of(std::uint64_t address) const = 0;

 protected:
  ~NamesPlaces() = default;
};

// What a launch asks for; the same for all its blocks.
struct Launch {
  std::string kernel;
  RunFunction run = nullptr;
  const void* const* arguments = nullptr;
  Index3 grid{1, 1, 1};
  Index3 block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t wave_width = 32;
  const NamesPlaces* places = nullptr;
  std::uint64_t serial = 0;  // not zero, and another for each launch
  void* order = nullptr;     // released by every thread at its end (see fiber.hpp)
};

// The most shared memory of a block, static and dynamic together: what every AMD GPU has.
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

  // Runs `count` blocks of the grid, from its linear block `first` on, to their end or to the first
  // failure; the runner stays usable. Nothing is unwound: a device thread that is given up never
  // runs its destructors.
  std::optional<Failure> run(const Launch& launch, std::uint64_t first, std::uint64_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::host
