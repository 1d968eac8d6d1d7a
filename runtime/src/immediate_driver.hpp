// Base of drivers whose calls are complete when they return. Streams and events need no ordering,
// freeing memory waits for nothing, and all host memory is as good as page-locked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "runtime/src/driver.hpp"

namespace kiln::runtime {

class ImmediateDriver : public Driver {
 public:
  // A stream has no state but needs a unique address.
  Result<NativeStream> create_stream(int) override { return NativeStream{new char}; }
  Result<void> destroy_stream(int, NativeStream stream) override {
    delete static_cast<char*>(stream);
    return {};
  }
  Result<void> synchronize_stream(int, NativeStream) override { return {}; }
  Result<void> synchronize(int) override { return {}; }

  Result<NativeEvent> create_event(int) override { return NativeEvent{new Mark(kNoTime)}; }
  Result<void> destroy_event(int, NativeEvent event) override {
    delete static_cast<Mark*>(event);
    return {};
  }
  Result<void> record_event(int, NativeEvent event, NativeStream) override {
    *static_cast<Mark*>(event) = Clock::now().time_since_epoch().count();
    return {};
  }
  Result<void> synchronize_event(int, NativeEvent) override { return {}; }
  Result<float> milliseconds_between(int, NativeEvent start, NativeEvent stop) override {
    const Clock::rep from = *static_cast<Mark*>(start), to = *static_cast<Mark*>(stop);
    if (from == kNoTime || to == kNoTime) {
      return Error{ErrorCode::kInvalidInput, "one of them was not recorded", {}, {}}
          .hint("call record() of both first");
    }
    return std::chrono::duration<float, std::milli>(Clock::duration(to - from)).count();
  }

  Result<void*> allocate_pinned(int, std::size_t bytes) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, 256, bytes) == 0) return memory;
    return Error{ErrorCode::kDriver,
                 "posix_memalign: ENOMEM: cannot allocate " + std::to_string(bytes) + " bytes",
                 {},
                 {}};
  }
  Result<void> free_pinned(int, void* memory) override {
    std::free(memory);
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Mark = std::atomic<Clock::rep>;  // the time at which an event was recorded
  static constexpr Clock::rep kNoTime = -1;
};

}  // namespace kiln::runtime
