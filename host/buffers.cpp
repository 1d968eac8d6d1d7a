#include "host/buffers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace kiln::host {
namespace {

constexpr std::size_t kGuard = std::size_t{1} << 20;
constexpr std::size_t kMaxFilled = std::size_t{1} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

struct Guarded {
  std::byte* mapping = nullptr;  // null: the system refused the mapping
  std::size_t mapping_bytes = 0;
  std::byte* end = nullptr;  // of the accessible part
};

#if defined(KILN_HOST_SANITIZED)
Guarded map_guarded(std::size_t) { return {}; }
#else
Guarded map_guarded(std::size_t capacity) {
  const std::size_t usable = round_up(capacity, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  const std::size_t bytes = usable + 2 * kGuard;
  void* const mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return {};
  std::byte* const begin = static_cast<std::byte*>(mapping) + kGuard;
  if (mprotect(begin, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, bytes);
    return {};
  }
  return {static_cast<std::byte*>(mapping), bytes, begin + usable};
}
#endif

}  // namespace

void* Buffers::allocate(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) - 4 * kGuard) return nullptr;
  Buffer buffer;
  buffer.bytes = buffer.capacity = bytes;
  void* memory = nullptr;
  const std::size_t capacity = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
  if (const Guarded guarded = map_guarded(capacity); guarded.mapping != nullptr) {
    buffer.capacity = capacity;
    buffer.mapping = guarded.mapping;
    buffer.mapping_bytes = guarded.mapping_bytes;
    memory = guarded.end - capacity;
    std::memset(static_cast<std::byte*>(memory) + bytes, kPaddingByte, capacity - bytes);
    if (bytes <= kMaxFilled) std::memset(memory, kUninitialisedByte, bytes);
  } else if (posix_memalign(&memory, kAlignment, bytes) != 0) {
    return nullptr;
  }
  const std::unique_lock lock(mutex_);
  buffers_[reinterpret_cast<std::uintptr_t>(memory)] = buffer;
  return memory;
}

void Buffers::free(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  Buffer buffer;
  {
    const std::unique_lock lock(mutex_);
    const auto found = buffers_.find(address);
    if (found == buffers_.end()) return;
    buffer = found->second;
    buffers_.erase(found);
  }
  if (buffer.mapping != nullptr) {
    munmap(buffer.mapping, buffer.mapping_bytes);
  } else {
    std::free(memory);
  }
}

Buffers::ByAddress::const_iterator Buffers::find_containing(std::uint64_t address) const {
  auto buffer = buffers_.upper_bound(address);
  if (buffer == buffers_.begin()) return buffers_.end();
  --buffer;
  return address - buffer->first <= buffer->second.bytes ? buffer : buffers_.end();
}

std::optional<std::uint64_t> Buffers::bytes_after(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  const auto buffer = find_containing(at);
  if (buffer == buffers_.end()) return std::nullopt;
  return buffer->first + buffer->second.bytes - at;
}

std::optional<BufferExtent> Buffers::guarded_by(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto guards = [&](ByAddress::const_iterator buffer) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer->second.mapping);
    return begin != 0 && address - begin < buffer->second.mapping_bytes;
  };
  const auto next = buffers_.upper_bound(address);
  if (next != buffers_.end() && guards(next)) return BufferExtent{next->first, next->second.bytes};
  if (next == buffers_.begin()) return std::nullopt;
  const auto before = std::prev(next);
  if (!guards(before)) return std::nullopt;
  return BufferExtent{before->first, before->second.bytes};
}

std::optional<Buffers::Overrun> Buffers::take_overrun(std::uint64_t address) {
  const std::unique_lock lock(mutex_);  // exclusive: the poison is restored below
  const auto buffer = find_containing(address);
  if (buffer == buffers_.end()) return std::nullopt;
  auto* const begin = reinterpret_cast<unsigned char*>(buffer->first);
  unsigned char* const end = begin + buffer->second.capacity;
  unsigned char* const written = std::find_if(
      begin + buffer->second.bytes, end, [](unsigned char byte) { return byte != kPaddingByte; });
  if (written == end) return std::nullopt;
  std::memset(written, kPaddingByte, static_cast<std::size_t>(end - written));
  return Overrun{{buffer->first, buffer->second.bytes}, reinterpret_cast<std::uintptr_t>(written)};
}

}  // namespace kiln::host
