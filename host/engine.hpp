// Runs launches: cuts a grid into blocks and spreads them over a pool of OS threads.
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
  // `workers` threads run blocks, the caller's among them; 0: one per core, 24 at most. Fewer where the
  // system gives no more threads.
  explicit Engine(unsigned workers = 0);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  unsigned workers() const;

  // Runs all blocks of the grid. Errors (kInvalidInput): a grid or block of no size, or larger than
  // GPUs take, shared memory over the limit, a barrier or shuffle that some threads never reach;
  // (kUnavailable): no memory for stacks or shared memory. After an error the blocks that had
  // started have run or been given up, the others have not.
  Result<void> launch(const Launch& launch);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace kiln::host
