// The streams that kiln made on one device and has not destroyed. Thread-safe.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <unordered_set>

#include "runtime/src/driver.hpp"

namespace kiln::runtime {

class StreamSet {
 public:
  void add(NativeStream stream) {
    const std::lock_guard lock(mutex_);
    streams_.insert(stream);
  }
  // Called before the stream is destroyed: after that, the driver may give its handle to a stream
  // of the caller's.
  void remove(NativeStream stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
  }
  bool contains(NativeStream stream) const {
    const std::shared_lock lock(mutex_);
    return streams_.contains(stream);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_set<NativeStream> streams_;  // guarded by mutex_
};

}  // namespace kiln::runtime
