// The device's memory: buffers laid out so that accesses of kernels and copies outside of them are
// detected. Thread-safe.
//
// A buffer ends at an inaccessible guard of 1 MiB, except for up to 255 bytes that its alignment
// takes. These bytes are checked after launches. Beyond the guard, other memory may begin. In
// sanitizer builds, where the sanitizer knows the end of each allocation, and if the system refuses
// more mappings, a buffer is plain memory.
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
  static constexpr unsigned char kUninitialisedByte =
      0xA5;                                            // initial content of buffers of up to 1 MiB
  static constexpr unsigned char kPaddingByte = 0xB7;  // the bytes behind a buffer; a unique poison

  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Returns null if there is not enough memory.
  void* allocate(std::size_t bytes);
  void free(void* memory);

  // Returns the number of bytes from the address to the end of its buffer, which is 0 at the end.
  // Returns nothing if the address is in no buffer.
  std::optional<std::uint64_t> bytes_after(const void* address) const;

  // Returns the buffer in whose guards, before or behind it, the address lies.
  std::optional<BufferExtent> guarded_by(std::uint64_t address) const;

  // Finds the first byte behind the end of the buffer at `address` that was written since the
  // buffer was allocated, or since the last call.
  struct Overrun {
    BufferExtent buffer;
    std::uint64_t address = 0;
  };
  std::optional<Overrun> take_overrun(std::uint64_t address);

 private:
  struct Buffer {
    std::size_t bytes = 0;
    std::size_t capacity = 0;      // with the bytes between its end and the guard
    std::byte* mapping = nullptr;  // null: plain memory
    std::size_t mapping_bytes = 0;
  };
  using ByAddress = std::map<std::uintptr_t, Buffer>;
  ByAddress::const_iterator find_containing(std::uint64_t address) const;

  mutable std::shared_mutex mutex_;
  ByAddress buffers_;
};

}  // namespace kiln::host
