// Allocates and frees the memory of a device.
//
// If the driver has a pool, memory is allocated and freed in the order of a stream, by default the
// default stream, and neither waits for the device.
//
// Memory in the default stream's order is not safe on streams that do not wait for the default
// stream (CU_STREAM_NON_BLOCKING), which only the caller can make. From the first such stream on,
// `allocate` without a stream takes plain memory, outside the pool, and freeing waits. Without a
// pool, all memory is plain, and freeing does what the driver does: on GPUs it waits for the
// device, on the host and the emulator it does not wait.
//
// Neither ends the capture of a stream into a graph. No call tells if any stream is captured: the
// default stream knows only of streams that wait for it, and the caller may have destroyed the
// others. So nothing here makes a call that would end a capture of those.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>

#include "kiln/result.hpp"
#include "kiln/stream.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/stream_set.hpp"

namespace kiln::runtime {

class DeviceMemory {
 public:
  struct Allocation {
    void* address = nullptr;
    bool is_pooled = false;
    NativeStream stream = nullptr;  // memory of a pool is freed in this stream's order
  };
  // Owns one allocation, or none. A list, so that an allocation can be moved to another list
  // without memory.
  using Handle = std::list<Allocation>;

  // The driver must outlive this object.
  DeviceMemory(Driver& driver, int ordinal, bool uses_pool)
      : driver_(driver), ordinal_(ordinal), uses_pool_(uses_pool) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Errors: kDriver; kInvalidInput, for a stream that is being captured.
  Result<Handle> allocate(std::size_t bytes, NativeStream stream);
  // Failures are ignored, because nobody is left to be told.
  void free(Handle allocation);

  // Waits for the streams that the default stream does not wait for, if the caller has any. Errors:
  // kDriver, also those of the work.
  Result<void> wait_for_non_blocking() { return has_non_blocking_ ? wait() : Result<void>(); }

  // Called by DeviceState::native_stream() for every stream that gets work. Asks the driver about
  // the caller's streams. Those of kiln wait for the default stream, also if their native handles
  // name them, as in C.
  void observe(StreamRef stream) {
    if (!stream.is_callers() || has_non_blocking_.load(std::memory_order_relaxed)) return;
    if (!kiln_streams_.contains(stream.native())) inspect(stream.native());
  }
  StreamSet& kiln_streams() { return kiln_streams_; }

 private:
  bool is_capturing(NativeStream stream);
  bool waits_for_default(NativeStream stream);
  void inspect(NativeStream stream);
  Result<Allocation> allocate_for(std::size_t bytes, NativeStream stream);
  Result<Allocation> allocate_plain(std::size_t bytes);
  Result<Allocation> allocate_pooled(std::size_t bytes, NativeStream stream);
  void free_now(const Allocation& allocation);
  void free_deferred();
  Result<void> wait();  // for all work of the device

  Driver& driver_;
  const int ordinal_;
  const bool uses_pool_;
  // the caller has a stream that does not wait for the default stream
  std::atomic<bool> has_non_blocking_{false};
  StreamSet kiln_streams_;
  std::mutex mutex_;
  Handle deferred_;  // guarded by mutex_; freed once the default stream takes work again
};

}  // namespace kiln::runtime
