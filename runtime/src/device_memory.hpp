// Allocates and frees the memory of a device.
//
// If the driver has a pool, memory is allocated and freed in the order of a stream, by default the
// default stream, and neither waits for the device. Memory that is freed while its stream is
// captured into a graph is kept until no stream is captured.
//
// Memory in the default stream's order is not safe on streams that do not wait for the default
// stream (CU_STREAM_NON_BLOCKING). From the first such stream of the caller on, such memory is
// allocated outside the pool, and freeing it waits. Without a pool, freeing does what the driver
// does: on GPUs it waits for the device, on the host and the emulator it does not wait.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "kiln/result.hpp"
#include "kiln/stream.hpp"
#include "runtime/src/driver.hpp"

namespace kiln::runtime {

class DeviceMemory {
 public:
  struct Allocation {
    void* address = nullptr;
    NativeStream stream = nullptr;  // the memory is freed in this stream's order
    bool is_pooled = false;
  };

  // The driver must outlive this object.
  DeviceMemory(Driver& driver, int ordinal, bool uses_pool)
      : driver_(driver), ordinal_(ordinal), uses_pool_(uses_pool) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Errors: kDriver; kInvalidInput, for a stream that is being captured.
  Result<Allocation> allocate(std::size_t bytes, NativeStream stream);
  // Failures are ignored, because nobody is left to be told.
  void free(const Allocation& allocation);

  // Called by DeviceState::native_stream() for every stream that gets work.
  void observe(StreamRef stream) {
    if (uses_pool_ && stream.is_callers() && !has_non_blocking_.load(std::memory_order_relaxed)) {
      inspect(stream.native());
    }
  }

 private:
  bool is_capturing(NativeStream stream);
  void inspect(NativeStream stream);
  void free_now(const Allocation& allocation);
  void free_deferred();

  Driver& driver_;
  const int ordinal_;
  const bool uses_pool_;
  // the caller has a stream that does not wait for the default stream
  std::atomic<bool> has_non_blocking_{false};
  std::mutex mutex_;
  std::vector<Allocation> deferred_;  // guarded by mutex_
};

}  // namespace kiln::runtime
