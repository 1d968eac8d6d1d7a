// The device's memory: buffers, so laid that kernels and copies that leave them are seen. Thread-safe.
//
// A buffer ends, but for what its alignment takes, where nobody may read or write; 1 MiB further, other memory
// may begin. The bytes in between are looked at after launches. In sanitizer builds, which know the end of
// what they allocate, and where the system gives no more mappings, a buffer is plain memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "formats/pointer_arguments.hpp"

namespace kiln::host {

class Buffers {
 public:
  static constexpr std::size_t kAlignment = 256;
  static constexpr unsigned char kFreshByte = 0xA5;   // of buffers of up to 1 MiB
  static constexpr unsigned char kBehindByte = 0xB7;  // what lies behind a buffer: nothing else is poison so

  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Null where there is not enough memory.
  void* allocate(std::size_t bytes);
  void free(void* memory);

  // The bytes from there to the end of the buffer that holds the address, or that ends there; of no buffer,
  // nothing.
  std::optional<std::uint64_t> room(const void* address) const;

  // The buffer before or behind which the address lies, where nobody may read or write.
  std::optional<BufferExtent> guarded_by(std::uint64_t address) const;

  // Of the buffer that holds the address, which bytes behind its end were written since it was allocated, or
  // since the last call: the first of them.
  struct Overrun {
    BufferExtent buffer;
    std::uint64_t address = 0;
  };
  std::optional<Overrun> take_overrun(std::uint64_t address);

 private:
  struct Buffer {
    std::size_t bytes = 0;
    std::size_t room = 0;  // with what lies between its end and the guard
    std::byte* mapping = nullptr;  // null: plain memory
    std::size_t mapping_bytes = 0;
  };
  using ByAddress = std::map<std::uintptr_t, Buffer>;
  ByAddress::const_iterator holder(std::uint64_t address) const;

  mutable std::shared_mutex mutex_;
  ByAddress buffers_;
};

}  // namespace kiln::host
