// The memory pools that all runtimes of a program share.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::runtime {

// One pool for each device of a driver, whatever number of runtimes use the device. It is destroyed
// when the last of them releases it, and not earlier: with a pool for each runtime, a driver of CUDA
// 13.0 stops for ever if one thread destroys its pool while others wait for streams. Thread-safe.
template <typename Pool, typename Status>
class SharedPools {
 public:
  using Destroy = Status (*)(Pool);  // the driver's function, which also tells drivers apart

  // Never destroyed, because runtimes may live until the program ends.
  static SharedPools& of_program() {
    static SharedPools& pools = *new SharedPools;
    return pools;
  }

  // Adds a user of the device's pool. The first one makes it: `make` returns Result<Pool>.
  template <typename Make>
  Result<Pool> acquire(Destroy driver, int device, Make make) {
    const std::lock_guard lock(mutex_);
    const auto [entry, added] = pools_.try_emplace({driver, device});
    if (added) {
      Result<Pool> made = make();
      if (!made) {
        pools_.erase(entry);
        return made;
      }
      entry->second.pool = *made;
    }
    ++entry->second.users;
    return entry->second.pool;
  }

  // Removes a user. If the driver has already shut down, destroying the pool only returns an error.
  void release(Destroy driver, int device) {
    const std::lock_guard lock(mutex_);
    const auto entry = pools_.find({driver, device});
    if (--entry->second.users != 0) return;
    driver(entry->second.pool);
    pools_.erase(entry);
  }

 private:
  struct Entry {
    Pool pool = nullptr;
    unsigned users = 0;
  };

  std::mutex mutex_;
  std::map<std::pair<Destroy, int>, Entry> pools_;  // guarded by mutex_
};

}  // namespace kiln::runtime
