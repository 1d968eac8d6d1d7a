// What a BlockRunner knows of its launch, its run of blocks and the block that runs: shared by the scheduler
// (block_runner.cpp) and by the services that device threads call (block_services.cpp).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/block_runner.hpp"
#include "host/faults.hpp"
#include "host/fiber.hpp"
#include "host/guarded_memory.hpp"

namespace kiln::host {

// What a thread of a GPU may have of local memory, and far more than kernels use; memory is taken
// page by page, as it is touched.
inline constexpr std::size_t kStackBytes = 256 * 1024;
inline constexpr int kSharedFill = 0xA5;

// What one device thread waits for.
enum class Waiting : std::uint8_t { kNothing, kBlock, kWave };
enum class Exchange : std::uint8_t { kBarrier, kShuffle, kBallot };

inline const char* name_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::kBarrier: return "wave barrier";
    case Exchange::kShuffle: return "shuffle";
    case Exchange::kBallot: return "ballot";
  }
  return "";
}

struct Thread {
  Waiting waiting = Waiting::kNothing;
  Exchange exchange = Exchange::kBarrier;
  Fiber* fiber = nullptr;  // where it waits
  Site site{};
  std::uint32_t width = 0;   // lanes of its group
  std::uint32_t phases = 0;  // for each width, a bit that every wave barrier turns over
  std::uint32_t source = 0;  // shuffle: the lane whose value it asks for
  std::uint64_t ballot = 0;  // ballot: its predicate, then the group's
  std::uint32_t value = 0;   // shuffle: what it passes, then what it gets
};

struct SharedArray {
  const void* tag;
  std::unique_ptr<void, decltype(&std::free)> memory;
};

struct SharedRequest {
  const void* tag;
  std::size_t bytes, alignment;
};

inline std::string text(Index3 index) {
  return std::string("(") + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

inline std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

// The engine's side of a Block: images see the base and hand it back to the services.
struct BlockRunner::State final : Block, RunsThreads {
  // ---- the launch
  std::uint64_t serial = 0;  // none
  std::string kernel;
  RunFunction run = nullptr;
  void* launch_order = nullptr;  // what all threads of a launch are ordered before
  const NamesPlaces* places = nullptr;
  std::uint32_t thread_count = 0;
  std::uint32_t dynamic_shared_bytes = 0;

  // ---- the run of blocks
  Index3 next_block{};
  std::uint64_t blocks_left = 0;

  // ---- the block
  std::vector<Thread> threads;
  std::vector<SharedArray> shared_arrays;
  std::size_t shared_bytes = 0;
  std::unique_ptr<GuardedMemory> dynamic_memory;  // once a launch has asked for some
  std::optional<SharedRequest> shared_request;    // of the thread that just suspended
  // What the launch's earlier blocks used. It stays until the launch's end where threads are told
  // apart, since freeing it would need an order between one block and the next.
  std::vector<SharedArray> retired_arrays;
  std::vector<std::unique_ptr<char[]>> retired_orders;
  std::optional<std::string> error, hint;  // what to do next

  // ---- who runs and who waits
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  Fiber* current = nullptr;
  bool is_on_fiber = false;
  // Threads whose wait is over, and those of them that run in this round, of which the first
  // `round_begun` have had their turn. Both have their full size from the start: memory that one
  // thread allocates and another frees would look like a race.
  std::vector<std::uint32_t> ready, round;
  std::size_t round_begun = 0;
  std::uint32_t block_arrivals = 0;          // threads that wait at the block's barrier
  std::vector<std::uint32_t> wave_arrivals;  // by a group's first thread: lanes that wait
  bool phase = false;                        // turned over by every barrier of the block
  // Addresses for order_release and order_acquire, a pair for the block and one for each group by
  // its first thread. New for every block, so that blocks stay unordered. Barriers take turns at a
  // pair: who is late in leaving one must not learn of those who have come to the next.
  std::unique_ptr<char[]> order;

  State() { services = &kServices; }

  void begin_launch(const Launch& launch);
  void begin_run(std::uint64_t first, std::uint64_t count);
  void begin_block();
  void begin_dynamic_shared();
  bool may_begin_block_on_fiber() const;
  void run_threads();
  std::optional<Error> run_block();
  static void run_on_fiber(void* state);
  void resume(Fiber& fiber);
  void enter_current();
  Fiber& next_of_round() { return *threads[round[round_begun++]].fiber; }
  void allocate_shared(const SharedRequest& request);
  Fiber& take_fiber();
  void give_up();
  std::string stuck() const;

  Index3 index_of(std::uint32_t linear) const {
    return {linear % block_dim.x, linear / block_dim.x % block_dim.y,
            linear / block_dim.x / block_dim.y};
  }
  std::string name(std::uint32_t linear) const {
    return "kernel '" + kernel + "', block " + text(block_index) + ", thread " +
           text(index_of(linear));
  }

  // Called on a device thread's stack.
  std::span<std::byte> running_stack() const override;
  [[noreturn]] void give_up_thread(const Fault& fault) override;
  void tell_access(const void* at, const std::string& who);
  [[noreturn]] void leave();
  void wait(Waiting kind);
  void wake(std::uint32_t linear);
  void enter_exchange(Exchange kind, std::uint32_t width, Site site);
  void finish_exchange(std::uint32_t first, std::uint32_t count);

  // The services. Each finds its State behind the Block.
  static State& of(Block* block) { return *static_cast<State*>(block); }
  static void block_barrier(Block* block, Site site);
  static void wave_barrier(Block* block, std::uint32_t width, Site site);
  static std::uint32_t shuffle(Block* block, std::uint32_t value, std::uint32_t source,
                               std::uint32_t width, Site site);
  static std::uint64_t ballot(Block* block, bool predicate, std::uint32_t width, Site site);
  static void* shared(Block* block, const void* tag, std::size_t bytes, std::size_t alignment);
  static void fail(Block* block, const char* message, Site site);
  static constexpr Services kServices = {block_barrier, wave_barrier, shuffle,
                                         ballot,        shared,       fail};
};

}  // namespace kiln::host
