// A driver whose every call is complete when it returns: its streams and events keep order by
// themselves, memory has nothing to wait for when it goes back, and all of the program's memory is as
// good as page-locked.
#pragma once

#include <chrono>
#include <cstdlib>

#include "runtime/src/driver.hpp"

namespace kiln::runtime {

class ImmediateDriver : public Driver {
 public:
  // A stream has no state; it only needs an address of its own.
  Result<NativeStream> create_stream(int) override { return NativeStream{new char}; }
  Result<void> destroy_stream(int, NativeStream stream) override {
    delete static_cast<char*>(stream);
    return {};
  }
  Result<void> synchronize_stream(int, NativeStream) override { return {}; }
  Result<void> synchronize(int) override { return {}; }

  Result<NativeEvent> create_event(int) override { return NativeEvent{new Time}; }
  Result<void> destroy_event(int, NativeEvent event) override {
    delete static_cast<Time*>(event);
    return {};
  }
  Result<void> record_event(int, NativeEvent event, NativeStream) override {
    *static_cast<Time*>(event) = Clock::now();
    return {};
  }
  Result<void> synchronize_event(int, NativeEvent) override { return {}; }
  Result<float> milliseconds_between(int, NativeEvent start, NativeEvent stop) override {
    return std::chrono::duration<float, std::milli>(*static_cast<Time*>(stop) -
                                                    *static_cast<Time*>(start))
        .count();
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
  using Time = Clock::time_point;
};

}  // namespace kiln::runtime
