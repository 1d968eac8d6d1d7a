// Runs launches: splits a grid into runs of blocks and spreads them over a pool of OS threads.
//
// Thread-safe: launches from several threads run one after the other. A launch is complete, and its
// writes visible to the caller, when launch() returns.
#pragma once

#include <cstdint>
#include <memory>

#include "host/block_runner.hpp"
#include "kiln/result.hpp"

namespace kiln::host {

class Engine {
 public:
  // `workers` threads run blocks, including the calling thread. 0 means one per core, at most 24.
  // There are fewer if the system refuses threads.
  explicit Engine(unsigned workers = 0);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  unsigned workers() const;

  // Runs all blocks of the grid. Errors: kInvalidInput (an empty grid or block, or one larger than
  // GPUs accept; too much shared memory; a barrier or shuffle that some threads never reach),
  // kUnavailable (no memory for stacks or shared memory). After an error, the blocks that had
  // started have run or were abandoned, and the others have not started.
  Result<void> launch(const Launch& launch);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace kiln::host
