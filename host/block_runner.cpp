#include "host/block_runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "host/block_state.hpp"

namespace kiln::host {

void BlockRunner::State::begin_launch(const Launch& launch) {
  kernel = launch.kernel;
  run = launch.run;
  launch_order = launch.order;
  describer = launch.describer;
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
  // A block that ran to its end leaves these in their initial state.
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

// In sanitizer builds the memory is allocated as usual, because the sanitizer knows where it ends.
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

// True if the running fiber, which has no more threads to start, can continue with the next block:
// switching stacks costs as much as some twenty short threads. Memory for a block must not be
// allocated on the stack of a thread.
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
      round_position = 0;
      while (round_position != round.size() && !error) resume(next_of_round());
      round.clear();
    } else if (next_thread < thread_count) {
      thread_limit = one_thread_per_fiber() ? next_thread + 1 : thread_count;
      Fiber& fiber = take_fiber();
      fiber.start(run_on_fiber, this);
      resume(fiber);
    } else if (idle.size() == fibers.size()) {
      return;  // no thread waits
    } else {
      error = divergence_message();
    }
  }
  abandon_threads();
}

std::optional<Error> BlockRunner::State::run_block() {
  try {
    begin_block();
    run_threads();
  } catch (const std::bad_alloc&) {
    abandon_threads();
    return Error{ErrorCode::kUnavailable,
                 "no memory for the stacks or the shared memory of " + name(next_thread),
                 {},
                 {}}
        .hint("fewer worker threads need less: set KILN_HOST_THREADS");
  }
  if (!error) return {};
  Error failed{ErrorCode::kDriver, *std::exchange(error, std::nullopt), {}, {}};
  if (hint) failed.hint(*std::exchange(hint, std::nullopt));
  return failed;
}

// Abandons the threads that still wait, after an error.
void BlockRunner::State::abandon_threads() {
  idle.clear();
  for (const auto& fiber : fibers) idle.push_back(fiber.get());
  threads.clear();
  ready.clear();
  round.clear();
  block_arrivals = 0;
}

// Runs on the scheduler's stack, not on that of a thread, so that no thread appears to have touched
// the memory first.
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

// Called when all threads have started and none can continue. Returns a message that says which
// threads wait for which.
std::string BlockRunner::State::divergence_message() const {
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
  const FaultScope fault_scope(*state_);
  while (state_->blocks_left != 0) {
    const std::optional<Error> error = state_->run_block();
    if (error) return Failure{first + count - 1 - state_->blocks_left, *error};
  }
  return {};
}

}  // namespace kiln::host
