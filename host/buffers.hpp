// The device's memory: which buffers there are, so that a copy past the end of one is seen. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace kiln::host {

class Buffers {
 public:
  static constexpr std::size_t kAlignment = 256;

  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Null where there is not enough memory.
  void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, bytes) != 0) return nullptr;
    const std::unique_lock lock(mutex_);
    bytes_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
    return memory;
  }

  void free(void* memory) {
    {
      const std::unique_lock lock(mutex_);
      bytes_.erase(reinterpret_cast<std::uintptr_t>(memory));
    }
    std::free(memory);
  }

  // The bytes from there to the end of the buffer that holds the address, or that ends there; of no buffer,
  // nothing.
  std::optional<std::uint64_t> room(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::shared_lock lock(mutex_);
    auto buffer = bytes_.upper_bound(at);
    if (buffer == bytes_.begin()) return std::nullopt;
    --buffer;
    if (at - buffer->first > buffer->second) return std::nullopt;
    return buffer->first + buffer->second - at;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, std::size_t> bytes_;  // by address
};

}  // namespace kiln::host
