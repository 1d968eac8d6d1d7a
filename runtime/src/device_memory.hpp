// Where a device's memory comes from, and how it goes back.
//
// On a device whose driver has a pool, memory is allocated and given back in the order of a stream,
// the default stream where none is named, and neither waits for the device. What goes back while
// its stream is captured into a graph is kept until no stream is. When the caller brings a stream
// that does not wait for the default stream (CU_STREAM_NON_BLOCKING), memory of the default
// stream's order would be safe no more: from then on it is allocated outside of the pool, and
// giving back waits. Without a pool, giving back is what the driver makes of it: on GPUs a wait for
// the device, on the host and the emulator nothing.
//
// Thread-safety: everything.
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
  struct Piece {
    void* address = nullptr;
    NativeStream stream = nullptr;  // in whose order it goes back
    bool is_pooled = false;
  };

  // The driver outlives it.
  DeviceMemory(Driver& driver, int ordinal, bool uses_pool)
      : driver_(driver), ordinal_(ordinal), uses_pool_(uses_pool) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Errors: kDriver; kInvalidInput, for a stream that is being captured.
  Result<Piece> allocate(std::size_t bytes, NativeStream stream);
  // Nobody is left to tell of a failure.
  void give_back(const Piece& piece);

  // Whoever puts work on a stream says so, by DeviceState::take().
  void notice(StreamRef stream) {
    if (uses_pool_ && stream.is_callers() && !has_unordered_.load(std::memory_order_relaxed)) {
      look_at(stream.native());
    }
  }

 private:
  bool is_capturing(NativeStream stream);
  void look_at(NativeStream stream);
  void free_now(const Piece& piece);
  void free_kept();

  Driver& driver_;
  const int ordinal_;
  const bool uses_pool_;
  std::atomic<bool> has_unordered_{false};  // the caller has such a stream
  std::mutex mutex_;
  std::vector<Piece> kept_;  // guarded by mutex_
};

}  // namespace kiln::runtime
