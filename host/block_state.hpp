// The state of a BlockRunner: its launch, its run of blocks and the current block. Shared by the
// scheduler (block_runner.cpp) and by the services that device threads call (block_services.cpp).
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

// A GPU thread may have this much local memory, far more than kernels use. Memory is committed page
// by page, on first touch.
inline constexpr std::size_t kStackBytes = 256 * 1024;
inline constexpr int kSharedFill = 0xA5;

// The event that a device thread waits for.
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
  Fiber* fiber = nullptr;  // the fiber on which the thread waits
  Site site{};
  std::uint32_t width = 0;   // lanes of its group
  std::uint32_t phases = 0;  // a bit for each width, which every wave barrier flips
  std::uint32_t source = 0;  // shuffle: the lane whose value the thread requests
  std::uint64_t ballot = 0;  // ballot: the thread's predicate, then the ballot of the group
  std::uint32_t value = 0;   // shuffle: the value the thread passes, then the one it receives
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

// The engine's side of a Block. Images see only the base class, and pass it back to the services.
struct BlockRunner::State final : Block, ThreadRunner {
  // ---- the launch
  std::uint64_t serial = 0;  // 0: no launch yet
  std::string kernel;
  RunFunction run = nullptr;
  void* launch_order = nullptr;  // address by which all threads are ordered before the end
  const AddressDescriber* describer = nullptr;
  std::uint32_t thread_count = 0;
  std::uint32_t dynamic_shared_bytes = 0;

  // ---- the run of blocks
  Index3 next_block{};
  std::uint64_t blocks_left = 0;

  // ---- the block
  std::vector<Thread> threads;
  std::vector<SharedArray> shared_arrays;
  std::size_t shared_bytes = 0;
  std::unique_ptr<GuardedMemory> dynamic_memory;  // allocated when a launch first asks for some
  std::optional<SharedRequest> shared_request;    // from the thread that has just suspended
  // Memory of earlier blocks of the launch. If every device thread has a fiber of its own, it is
  // kept until the launch ends: freeing it would require an order between one block and the next.
  std::vector<SharedArray> retired_arrays;
  std::vector<std::unique_ptr<char[]>> retired_orders;
  std::optional<std::string> error, hint;  // `hint` is advice to the user

  // ---- running and waiting threads
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  Fiber* current = nullptr;
  bool is_on_fiber = false;
  // `ready`: threads whose wait is over. `round`: those of them that run in this round, of which
  // the first `round_position` have had their turn. Both have their full capacity from the start,
  // because memory that one thread allocates and another frees would look like a race.
  std::vector<std::uint32_t> ready, round;
  std::size_t round_position = 0;
  std::uint32_t block_arrivals = 0;          // threads that wait at the barrier of the block
  std::vector<std::uint32_t> wave_arrivals;  // waiting lanes, indexed by first thread of group
  bool phase = false;                        // flipped by every barrier of the block
  // Addresses for order_release and order_acquire: a pair for the block, and a pair for each group
  // at the index of its first thread. They are new for every block, so that blocks remain
  // unordered. Successive barriers alternate between the two addresses of a pair, so that a thread
  // that is late in leaving one barrier is not ordered after threads that have reached the next
  // one.
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
  Fiber& next_of_round() { return *threads[round[round_position++]].fiber; }
  void allocate_shared(const SharedRequest& request);
  Fiber& take_fiber();
  void abandon_threads();
  std::string divergence_message() const;

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
  [[noreturn]] void abandon_thread(const Fault& fault) override;
  void set_access_error(const void* address, const std::string& location);
  [[noreturn]] void abandon_block();
  void wait(Waiting kind);
  void wake(std::uint32_t linear);
  void enter_exchange(Exchange kind, std::uint32_t width, Site site);
  void finish_exchange(std::uint32_t first, std::uint32_t count);

  // The services. Each gets its State from the Block.
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
