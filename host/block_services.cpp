// The functions that device threads call, and those that end device threads. All of them run on the
// stack of a device thread.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host/block_state.hpp"

namespace kiln::host {
namespace {

std::string hex(const void* address) {
  char digits[2 * sizeof address + 3];
  std::snprintf(digits, sizeof digits, "%#" PRIxPTR, reinterpret_cast<std::uintptr_t>(address));
  return digits;
}

bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

// Ends the block after `error` has been set. Objects on this stack are never destroyed, so the
// callers hold no strings.
void BlockRunner::State::abandon_block() {
  order_release(launch_order);
  current->suspend();
  std::abort();  // not reached: the fibers of a stopped block are not resumed
}

std::span<std::byte> BlockRunner::State::running_stack() const {
  if (!is_on_fiber) return {};
  return current->stack();
}

void BlockRunner::State::set_access_error(const void* address, const std::string& location) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const std::string buffer = describer == nullptr ? "" : describer->describe(number);
  error = "access to address " + hex(address) + ", " +
          (buffer.empty() ? "where no memory is" : buffer) + location;
  if (number < kNearNull) {
    hint = "a null pointer, or dynamic_shared() of a launch that gives no dynamic shared memory: it gives some by "
           "its shared_bytes";
  } else {
    hint = kMoreDetailHint;
  }
}

// The message does not name the thread, because the compiler may run several at once.
void BlockRunner::State::abandon_thread(const Fault& fault) {
  const std::string location = ": kernel '" + kernel + "', block " + text(block_index);
  switch (fault.kind) {
    case Fault::Kind::kNoMemory:
      if (dynamic_memory && dynamic_memory->guards(fault.address)) {
        error = "access behind the " + std::to_string(dynamic_shared_bytes) +
                " bytes of dynamic shared memory that the launch gives" + location;
        hint = "the launch gives more by its shared_bytes";
        break;
      }
      set_access_error(fault.address, location);
      break;
    case Fault::Kind::kNoAddress:
      error =
          "access to an address that no memory can have, or that is not aligned as its type asks "
          "for" +
          location;
      hint = kMoreDetailHint;
      break;
    case Fault::Kind::kStackUsedUp:
      error = "a thread's stack of " + std::to_string(kStackBytes / 1024) + " KiB is used up" +
              location;
      hint = "large arrays of a thread belong in shared or global memory; recursion needs a bound";
      break;
    case Fault::Kind::kDivision:
      error = "division of a whole number by zero, or with a result out of range" + location;
      break;
  }
  abandon_block();
}

void BlockRunner::State::wait(Waiting kind) {
  const std::uint32_t self = thread;
  const std::uint32_t self_index = thread_index;
  threads[self].waiting = kind;
  threads[self].fiber = current;
  order_release(launch_order);  // in case this thread is never resumed
  if (round_position < round.size()) {
    // Switches directly to the next thread, without going through run_threads().
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
        self.abandon_block();
      }
      self.wake(other);
    }
  }
  order_acquire(order);
}

// Waits until the running thread's group of `width` lanes is complete. The last lane to arrive does
// the exchange for all of them.
void BlockRunner::State::enter_exchange(Exchange kind, std::uint32_t width, Site site) {
  if (width == 0 || width > wave_width || (width & (width - 1)) != 0) {
    error = std::string(name_of(kind)) + " among " + std::to_string(width) +
            " lanes, on waves of " + std::to_string(wave_width) + ": " + name(thread) + " at " +
            text(site);
    abandon_block();
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
      abandon_block();
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
      std::uint32_t sent[64];
      for (std::uint32_t lane = 0; lane < count; ++lane) sent[lane] = threads[first + lane].value;
      for (std::uint32_t lane = 0; lane < count; ++lane) {
        Thread& receiver = threads[first + lane];
        if (receiver.source >= count) {
          error = "shuffle from a lane that is not there: " + name(first + lane) +
                  " asks for lane " + std::to_string(receiver.source) + " of " +
                  std::to_string(count) + ", at " + text(receiver.site);
          abandon_block();
        }
        receiver.value = sent[receiver.source];
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
      self.abandon_block();
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
  self.abandon_block();
}

}  // namespace kiln::host
