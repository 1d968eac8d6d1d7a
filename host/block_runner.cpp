#include "host/block_runner.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include "host/faults.hpp"
#include "host/fiber.hpp"
#include "host/guarded_memory.hpp"

namespace kiln::host {
namespace {

// What a thread of a GPU may have of local memory, and far more than kernels use; memory is taken
// page by page, as it is touched.
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr int kSharedFill = 0xA5;
// What lies below is taken for a null pointer with an index.
constexpr std::uintptr_t kNearNull = 64 * 1024;

// What one device thread waits for.
enum class Waiting : std::uint8_t { kNothing, kBlock, kWave };
enum class Exchange : std::uint8_t { kBarrier, kShuffle, kBallot };

const char* name_of(Exchange exchange) {
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

std::string text(Index3 index) {
  return std::string("(") + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

std::string hex(const void* address) {
  char digits[2 * sizeof address + 3];
  std::snprintf(digits, sizeof digits, "%#" PRIxPTR, reinterpret_cast<std::uintptr_t>(address));
  return digits;
}

std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

// The engine's side of a Block: images see the base and hand it back to the services.
struct BlockRunner::State final : Block, RunsThreads {
  // ---- the launch
  std::uint64_t serial = 0;  // none
  std::string kernel;
  RunFunction run = nullptr;
  void* launch_order = nullptr;  // what all threads of a launch are ordered before
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

// ---------------------------------------------------------------- scheduling

void BlockRunner::State::begin_launch(const Launch& launch) {
  kernel = launch.kernel;
  run = launch.run;
  launch_order = launch.order;
  arguments = launch.arguments;
  grid_dim = launch.grid;
  block_dim = launch.block;
  wave_width = launch.wave_width;
  is_linear = launch.block.y == 1 && launch.block.z == 1;
  thread_count = launch.block.x * launch.block.y * launch.block.z;
  dynamic_shared_bytes = launch.dynamic_shared_bytes;
  retired_arrays.clear();
  retired_orders.clear();
  serial = launch.serial;
}

void BlockRunner::State::begin_run(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t x = grid_dim.x, y = grid_dim.y;
  next_block = {static_cast<std::uint32_t>(first % x), static_cast<std::uint32_t>(first / x % y),
                static_cast<std::uint32_t>(first / x / y)};
  blocks_left = count;
}

void BlockRunner::State::begin_block() {
  block_index = next_block;
  if (++next_block.x == grid_dim.x) {
    next_block.x = 0;
    if (++next_block.y == grid_dim.y) next_block.y = 0, ++next_block.z;
  }
  --blocks_left;
  next_thread = 0;
  // A block that ran to its end leaves these as it found them.
  if (threads.size() != thread_count) {
    threads.assign(thread_count, Thread{});
    wave_arrivals.assign(thread_count, 0);
  }
  if (one_thread_per_fiber()) {
    std::move(shared_arrays.begin(), shared_arrays.end(), std::back_inserter(retired_arrays));
    retired_orders.push_back(std::move(order));
    order = std::make_unique<char[]>(2 * (thread_count + 1));
  }
  shared_arrays.clear();
  shared_bytes = 0;
  dynamic_shared = nullptr;
  if (dynamic_shared_bytes != 0) begin_dynamic_shared();
}

// A sanitizer knows where what it allocated ends.
void BlockRunner::State::begin_dynamic_shared() {
#if defined(KILN_HOST_SANITIZED)
  allocate_shared({this, dynamic_shared_bytes, 16});
  dynamic_shared = shared_arrays.back().memory.get();
#else
  if (!dynamic_memory) dynamic_memory = std::make_unique<GuardedMemory>(kSharedMemoryBytes);
  dynamic_shared = dynamic_memory->last(dynamic_shared_bytes);
  std::memset(dynamic_shared, kSharedFill, dynamic_shared_bytes);
  shared_bytes = dynamic_shared_bytes;
#endif
}

Fiber& BlockRunner::State::take_fiber() {
  if (idle.empty()) {
    fibers.push_back(std::make_unique<Fiber>(kStackBytes));
    idle.push_back(fibers.back().get());
  }
  Fiber& fiber = *idle.back();
  idle.pop_back();
  return fiber;
}

void BlockRunner::State::enter_current() {
  is_on_fiber = true;
  current->resume();
  is_on_fiber = false;
}

void BlockRunner::State::resume(Fiber& fiber) {
  current = &fiber;
  enter_current();
  while (shared_request) {
    allocate_shared(*std::exchange(shared_request, std::nullopt));
    enter_current();
  }
  if (current->finished()) idle.push_back(current);
}

// Whether the running fiber, which has no more threads to start, can go on with the next block.
// Leaving a stack and entering one costs as much as some twenty short threads. What has to be
// allocated for a block is not allocated on a thread's stack.
bool BlockRunner::State::may_begin_block_on_fiber() const {
  const bool nobody_waits = idle.size() + 1 == fibers.size();
  return nobody_waits && blocks_left != 0 && dynamic_shared_bytes == 0 && !one_thread_per_fiber();
}

void BlockRunner::State::run_on_fiber(void* state) {
  auto& self = *static_cast<State*>(state);
  self.run(&self);
  while (self.may_begin_block_on_fiber()) {
    self.begin_block();
    self.run(&self);
  }
  order_release(self.launch_order);
}

// Runs all threads of the block to their end, or until `error` is set.
void BlockRunner::State::run_threads() {
  while (!error) {
    if (!ready.empty()) {
      round.swap(ready);
      round_begun = 0;
      while (round_begun != round.size() && !error) resume(next_of_round());
      round.clear();
    } else if (next_thread < thread_count) {
      thread_limit = one_thread_per_fiber() ? next_thread + 1 : thread_count;
      Fiber& fiber = take_fiber();
      fiber.start(run_on_fiber, this);
      resume(fiber);
    } else if (idle.size() == fibers.size()) {
      return;  // nobody waits
    } else {
      error = stuck();
    }
  }
  give_up();
}

std::optional<Error> BlockRunner::State::run_block() {
  try {
    begin_block();
    run_threads();
  } catch (const std::bad_alloc&) {
    give_up();
    return Error{ErrorCode::kUnavailable,
                 "no memory for the stacks or the shared memory of " + name(next_thread),
                 {},
                 {}}
        .hint("fewer worker threads need less: set KILN_HOST_THREADS");
  }
  if (!error) return {};
  Error failed{ErrorCode::kInvalidInput, *std::exchange(error, std::nullopt), {}, {}};
  if (hint) failed.hint(*std::exchange(hint, std::nullopt));
  return failed;
}

// Drops the threads that still wait, after an error.
void BlockRunner::State::give_up() {
  idle.clear();
  for (const auto& fiber : fibers) idle.push_back(fiber.get());
  threads.clear();
  ready.clear();
  round.clear();
  block_arrivals = 0;
}

// On the scheduler's stack, not a thread's, so that no thread seems to have touched the memory
// first.
void BlockRunner::State::allocate_shared(const SharedRequest& request) {
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(request.alignment, sizeof(void*)), request.bytes) != 0) {
    throw std::bad_alloc();
  }
  std::memset(memory, kSharedFill, request.bytes);
  shared_arrays.push_back({request.tag, {memory, &std::free}});
  shared_bytes += request.bytes;
  order_release(&shared_arrays);
}

// All threads have started and none can go on: says who waits for whom.
std::string BlockRunner::State::stuck() const {
  std::uint32_t waiter = 0;
  while (threads[waiter].waiting == Waiting::kNothing) ++waiter;
  const Thread& waiting = threads[waiter];
  const bool at_barrier = waiting.waiting == Waiting::kBlock;
  const std::uint32_t first = at_barrier ? 0 : waiter - waiter % wave_width % waiting.width;
  const std::uint32_t count =
      at_barrier ? thread_count : std::min(waiting.width, thread_count - first);
  const char* what = at_barrier ? "barrier" : name_of(waiting.exchange);
  std::string message =
      std::string("divergent ") + what + ": " + name(waiter) + " waits at " + text(waiting.site);
  for (std::uint32_t other = first; other < first + count; ++other) {
    const Thread& peer = threads[other];
    if (peer.waiting == Waiting::kNothing) {
      return message + ", which thread " + text(index_of(other)) + " has left without reaching";
    }
    if (peer.waiting != waiting.waiting) {
      return message + ", while thread " + text(index_of(other)) + " waits at " + text(peer.site);
    }
  }
  return message;
}

BlockRunner::BlockRunner() : state_(std::make_unique<State>()) {
  state_->ready.reserve(kMaxBlockThreads);
  state_->round.reserve(kMaxBlockThreads);
}
BlockRunner::~BlockRunner() = default;

std::optional<BlockRunner::Failure> BlockRunner::run(const Launch& launch, std::uint64_t first,
                                                     std::uint64_t count) {
  if (state_->serial != launch.serial) state_->begin_launch(launch);
  state_->begin_run(first, count);
  const WatchForFaults watch(*state_);
  while (state_->blocks_left != 0) {
    const std::optional<Error> error = state_->run_block();
    if (error) return Failure{first + count - 1 - state_->blocks_left, *error};
  }
  return {};
}

// ---------------------------------------------------------------- on a device thread's stack

// Ends the block, once `error` is set. Nothing on this stack is destroyed any more, so its callers
// hold no strings.
void BlockRunner::State::leave() {
  order_release(launch_order);
  current->suspend();
  std::abort();  // a stopped block's fibers are not resumed
}

std::span<std::byte> BlockRunner::State::running_stack() const {
  if (!is_on_fiber) return {};
  return current->stack();
}

// Which thread it was is not said: a compiler may run several at once.
void BlockRunner::State::give_up_thread(const Fault& fault) {
  const std::string who = ": kernel '" + kernel + "', block " + text(block_index);
  switch (fault.kind) {
    case Fault::Kind::kNoMemory:
      if (dynamic_memory && dynamic_memory->guards(fault.address)) {
        error = "access behind the " + std::to_string(dynamic_shared_bytes) +
                " bytes of dynamic shared memory that the launch gives" + who;
        break;
      }
      error = "access to address " + hex(fault.address) + ", where no memory is" + who;
      hint = reinterpret_cast<std::uintptr_t>(fault.address) < kNearNull
                 ? "a null pointer, or dynamic_shared() where the launch gives no dynamic shared "
                   "memory: the device emulated:gfx1100 tells which"
                 : "the device emulated:gfx1100 tells which buffer is too small, a host image with "
                   "the address sanitizer the line";
      break;
    case Fault::Kind::kStackUsedUp:
      error = "a thread's stack of " + std::to_string(kStackBytes / 1024) + " KiB is used up" + who;
      hint = "large arrays of a thread belong in shared or global memory; recursion needs a bound";
      break;
    case Fault::Kind::kDivision:
      error = "division of a whole number by zero, or with a result out of range" + who;
      break;
  }
  leave();
}

void BlockRunner::State::wait(Waiting kind) {
  const std::uint32_t self = thread;
  const std::uint32_t self_index = thread_index;
  threads[self].waiting = kind;
  threads[self].fiber = current;
  order_release(launch_order);  // in case it is never resumed
  if (round_begun < round.size()) {
    // Straight to the next, not by way of run_threads().
    std::exchange(current, &next_of_round())->switch_to(*current);
  } else {
    current->suspend();
  }
  thread = self;
  thread_index = self_index;
}

void BlockRunner::State::wake(std::uint32_t linear) {
  threads[linear].waiting = Waiting::kNothing;
  ready.push_back(linear);
}

void BlockRunner::State::block_barrier(Block* block, Site site) {
  State& self = of(block);
  if (self.thread_count == 1) return;
  char* const order = self.order ? &self.order[self.phase ? 1 : 0] : nullptr;
  order_release(order);
  self.threads[self.thread].site = site;
  if (++self.block_arrivals < self.thread_count) {
    self.wait(Waiting::kBlock);
  } else {
    self.block_arrivals = 0;
    self.phase = !self.phase;
    for (std::uint32_t other = 0; other < self.thread_count; ++other) {
      if (other == self.thread) continue;
      if (!same(self.threads[other].site, site)) {
        self.error = "divergent barrier: " + self.name(self.thread) + " waits at " + text(site) +
                     ", while thread " + text(self.index_of(other)) + " waits at " +
                     text(self.threads[other].site);
        self.leave();
      }
      self.wake(other);
    }
  }
  order_acquire(order);
}

// Waits until the running thread's group of `width` lanes is complete. The last to come does the
// exchange for all.
void BlockRunner::State::enter_exchange(Exchange kind, std::uint32_t width, Site site) {
  if (width == 0 || width > wave_width || (width & (width - 1)) != 0) {
    error = std::string(name_of(kind)) + " among " + std::to_string(width) +
            " lanes, on waves of " + std::to_string(wave_width) + ": " + name(thread) + " at " +
            text(site);
    leave();
  }
  Thread& self = threads[thread];
  self.exchange = kind;
  self.site = site;
  self.width = width;
  const std::uint32_t first = thread - thread % wave_width % width;
  const std::uint32_t count = std::min(width, thread_count - first);
  if (++wave_arrivals[first] < count) return wait(Waiting::kWave);

  wave_arrivals[first] = 0;
  for (std::uint32_t lane = first; lane < first + count; ++lane) {
    const Thread& other = threads[lane];
    if (other.width != width || other.exchange != kind || !same(other.site, site)) {
      error = std::string("divergent ") + name_of(kind) + ": " + name(thread) + " is at " +
              text(site) + ", while thread " + text(index_of(lane)) + " is at " + text(other.site);
      leave();
    }
  }
  finish_exchange(first, count);
  for (std::uint32_t lane = first; lane < first + count; ++lane) {
    if (lane != thread) wake(lane);
  }
}

void BlockRunner::State::finish_exchange(std::uint32_t first, std::uint32_t count) {
  switch (threads[first].exchange) {
    case Exchange::kBarrier: return;
    case Exchange::kBallot: {
      std::uint64_t bits = 0;
      for (std::uint32_t lane = 0; lane < count; ++lane) {
        bits |= threads[first + lane].ballot << lane;
      }
      for (std::uint32_t lane = 0; lane < count; ++lane) threads[first + lane].ballot = bits;
      return;
    }
    case Exchange::kShuffle: {
      std::uint32_t passed[64];
      for (std::uint32_t lane = 0; lane < count; ++lane) passed[lane] = threads[first + lane].value;
      for (std::uint32_t lane = 0; lane < count; ++lane) {
        Thread& taker = threads[first + lane];
        if (taker.source >= count) {
          error = "shuffle from a lane that is not there: " + name(first + lane) +
                  " asks for lane " + std::to_string(taker.source) + " of " +
                  std::to_string(count) + ", at " + text(taker.site);
          leave();
        }
        taker.value = passed[taker.source];
      }
      return;
    }
  }
}

void BlockRunner::State::wave_barrier(Block* block, std::uint32_t width, Site site) {
  State& self = of(block);
  const std::uint32_t first = self.thread - self.thread % self.wave_width % width;
  std::uint32_t& phases = self.threads[self.thread].phases;
  const bool phase = (phases & width) != 0;
  phases ^= width;
  char* const order = self.order ? &self.order[2 * (1 + first) + (phase ? 1 : 0)] : nullptr;
  order_release(order);
  self.enter_exchange(Exchange::kBarrier, width, site);
  order_acquire(order);
}

std::uint32_t BlockRunner::State::shuffle(Block* block, std::uint32_t value, std::uint32_t source,
                                          std::uint32_t width, Site site) {
  State& self = of(block);
  Thread& thread = self.threads[self.thread];
  thread.source = source;
  thread.value = value;
  self.enter_exchange(Exchange::kShuffle, width, site);
  return thread.value;
}

std::uint64_t BlockRunner::State::ballot(Block* block, bool predicate, std::uint32_t width,
                                         Site site) {
  State& self = of(block);
  Thread& thread = self.threads[self.thread];
  thread.ballot = predicate ? 1 : 0;
  self.enter_exchange(Exchange::kBallot, width, site);
  return thread.ballot;
}

void* BlockRunner::State::shared(Block* block, const void* tag, std::size_t bytes,
                                 std::size_t alignment) {
  State& self = of(block);
  const auto find = [&] {
    return std::find_if(self.shared_arrays.begin(), self.shared_arrays.end(),
                        [&](const SharedArray& array) { return array.tag == tag; });
  };
  auto array = find();
  if (array == self.shared_arrays.end()) {
    if (self.shared_bytes + bytes > kSharedMemoryBytes) {
      self.error = "too much shared memory: " + self.name(self.thread) + " needs " +
                   std::to_string(self.shared_bytes + bytes) + " bytes, a block has " +
                   std::to_string(kSharedMemoryBytes);
      self.leave();
    }
    self.shared_request = SharedRequest{tag, bytes, alignment};
    self.current->suspend();
    array = find();
  }
  order_acquire(&self.shared_arrays);
  return array->memory.get();
}

void BlockRunner::State::fail(Block* block, const char* message, Site site) {
  State& self = of(block);
  self.error = std::string(message) + ": " + self.name(self.thread) + " at " + text(site);
  self.leave();
}

}  // namespace kiln::host
