#include "host/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/helping_threads.hpp"
#include "host/faults.hpp"
#include "host/fiber.hpp"

namespace kiln::host {
namespace {

// The largest grid that every GPU accepts.
constexpr std::uint32_t kMaxBlocksX = 0x7fffffff, kMaxBlocksYZ = 65535;

// Default limit on the number of workers. Each worker may need a stack for every thread of its
// block, with two mappings for each stack, and Linux allows a process 65,530 mappings.
constexpr unsigned kDefaultMaxWorkers = 24;

// Blocks are handed out in runs, to avoid contention on the counter in grids of many small blocks.
constexpr std::uint64_t kRunsPerWorker = 16;

std::string spelt(Index3 index) {
  return std::to_string(index.x) + "x" + std::to_string(index.y) + "x" + std::to_string(index.z);
}

Error refusal(const Launch& launch, const std::string& why) {
  return Error{
      ErrorCode::kInvalidInput, "cannot launch kernel '" + launch.kernel + "': " + why, {}, {}};
}

unsigned worker_count(unsigned requested) {
  return requested != 0 ? requested
                        : std::clamp(std::thread::hardware_concurrency(), 1u, kDefaultMaxWorkers);
}

}  // namespace

struct Engine::Pool {
  explicit Pool(unsigned workers)
      : runners(workers), threads(workers - 1, [this](std::size_t i) { serve(runners[i + 1]); }) {}

  ~Pool() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    wake.notify_all();
  }

  // Includes the calling thread.
  unsigned workers() const { return static_cast<unsigned>(threads.count()) + 1; }

  // The loop of a worker: waits for a seat in a launch, runs blocks, and waits for the next launch.
  void serve(BlockRunner& runner) {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return closing || seats != 0; });
      if (closing) return;
      --seats;
      ++busy;
      lock.unlock();
      run_blocks(runner);
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }

  void run_blocks(BlockRunner& runner) {
    while (true) {
      const std::uint64_t first = next_block.fetch_add(blocks_per_run, std::memory_order_relaxed);
      if (first >= block_count) return;
      const std::uint64_t count = std::min(blocks_per_run, block_count - first);
      if (auto failed = runner.run(*launch, first, count)) {
        const std::lock_guard lock(mutex);
        // Which block fails first depends on timing; the one with the lowest number is reported.
        if (!failure || failed->block < failure->block) failure = std::move(failed);
        next_block = block_count;
        return;
      }
    }
  }

  std::optional<BlockRunner::Failure> run(const Launch& requested) {
    const std::lock_guard launch_lock(launching);
    unsigned helpers = 0;
    {
      const std::lock_guard lock(mutex);
      launch = &requested;
      block_count = std::uint64_t{requested.grid.x} * requested.grid.y * requested.grid.z;
      blocks_per_run = std::max<std::uint64_t>(1, block_count / (workers() * kRunsPerWorker));
      next_block = 0;
      failure.reset();
      // Wakes only as many workers as there are runs of blocks for them.
      const std::uint64_t runs = (block_count - 1) / blocks_per_run + 1;
      helpers = static_cast<unsigned>(std::min<std::uint64_t>(runs - 1, threads.count()));
      seats = helpers;
    }
    for (unsigned i = 0; i < helpers; ++i) wake.notify_one();
    run_blocks(runners[0]);
    std::unique_lock lock(mutex);
    seats = 0;  // workers that have not started by now stay out of this launch
    done.wait(lock, [&] { return busy == 0; });
    order_acquire(requested.order);
    return std::move(failure);
  }

  const pid_t process = ::getpid();  // the process that owns the threads
  std::vector<BlockRunner> runners;  // runners[0] is the caller's
  std::mutex launching;
  std::atomic<std::uint64_t> launches{0};

  std::mutex mutex;  // guards the members below
  std::condition_variable wake, done;
  bool closing = false;
  unsigned seats = 0;  // workers that may still join the launch
  unsigned busy = 0;   // workers that have joined it
  const Launch* launch = nullptr;
  std::uint64_t block_count = 0, blocks_per_run = 1;
  std::optional<BlockRunner::Failure> failure;

  std::atomic<std::uint64_t> next_block{0};

  HelpingThreads threads;  // last member: the threads use all of the above, and end first
};

Engine::Engine(unsigned workers) : pool_(std::make_unique<Pool>(worker_count(workers))) {}
Engine::~Engine() {
  // A forked child has none of the threads. There is nothing to wait for, and the objects that the
  // threads wait on cannot be destroyed.
  if (::getpid() != pool_->process) static_cast<void>(pool_.release());
}

unsigned Engine::workers() const { return pool_->workers(); }

Result<void> Engine::launch(const Launch& launch) {
  const Index3 grid = launch.grid, block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    return refusal(launch, "its grid of " + spelt(grid) + " blocks is empty");
  }
  if (grid.x > kMaxBlocksX || grid.y > kMaxBlocksYZ || grid.z > kMaxBlocksYZ) {
    return refusal(launch, "its grid of " + spelt(grid) + " blocks is over " +
                               spelt({kMaxBlocksX, kMaxBlocksYZ, kMaxBlocksYZ}));
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || std::max({block.x, block.y, block.z}) > kMaxBlockThreads ||
      threads > kMaxBlockThreads) {
    return refusal(launch, "its block of " + spelt(block) + " threads is not 1 to " +
                               std::to_string(kMaxBlockThreads));
  }
  if (launch.dynamic_shared_bytes > kSharedMemoryBytes) {
    return refusal(launch, std::to_string(launch.dynamic_shared_bytes) +
                               " bytes of shared memory asked for, a block has " +
                               std::to_string(kSharedMemoryBytes));
  }
  install_fault_handlers();
  Launch ordered = launch;
  ordered.serial = ++pool_->launches;
  char order = 0;
  ordered.order = &order;
  if (auto failure = pool_->run(ordered)) {
    return std::move(failure->error);
  }
  return {};
}

}  // namespace kiln::host
