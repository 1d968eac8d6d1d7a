// Global memory: the allocated buffers, and the freed ones.
//
// Buffers lie far apart in their own address space, and addresses are reused as late as possible,
// so that an access outside a buffer or to a freed buffer is recognised. Fresh memory is filled
// with 0xA5. Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "emulator/wave.hpp"
#include "kiln/result.hpp"

namespace kiln::emulator {

struct LaunchPlan;

inline constexpr u8 kUninitialisedByte = 0xa5;

enum class Tracking : bool { kNo, kInitialisation };

// Bytes of this machine's memory, which is the memory size of an emulated device.
u64 machine_memory();

// The buffer that is nearest to an address outside all buffers.
struct NearBuffer {
  u64 begin = 0;
  u64 bytes = 0;  // 0: there is no such buffer
  bool is_freed = false;
  u64 address = 0;  // the address in question
};
// "64 bytes past the end of argument 2 (a buffer of 4096 bytes)"
std::string describe(const NearBuffer& near, const LaunchPlan& plan);

class MemoryMap {
 public:
  explicit MemoryMap(Tracking tracking = Tracking::kNo) : tracking_(tracking) {}
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap();

  // Errors: kEnvironment (the total size of all buffers would exceed machine_memory()).
  Result<void*> allocate(std::size_t bytes);
  Result<void> free(void* memory);

  std::optional<AddressRange> find(u64 address, u64 bytes) const;
  NearBuffer nearest(u64 address, u64 bytes) const;
  // Returns the number of bytes from `address` to the end of its buffer, or 0 if it is not in a
  // buffer. Returns nothing if the address is outside the address space of buffers.
  std::optional<u64> bytes_after(u64 address) const;

  // Record which bytes of buffers were ever written. Without tracking, all bytes count as written.
  void mark_written(u64 address, std::size_t bytes);
  void copy_marks(u64 target, u64 source, std::size_t bytes);
  // Bit i: byte i was never written. `bytes` is at most 64.
  u64 unwritten(u64 address, u32 bytes) const;

 private:
  struct Buffer {
    u64 bytes = 0;
    std::vector<bool> written;  // only with tracking
  };
  using Buffers = std::map<u64, Buffer>;
  Buffers::const_iterator find_containing(u64 address) const;
  Result<u64> reserve(std::size_t span);

  const Tracking tracking_;
  mutable std::shared_mutex mutex_;
  u64 arena_ = 0;
  u64 next_ = 0;
  Buffers buffers_;
  u64 allocated_ = 0;  // bytes of the pages of all buffers
  std::deque<NearBuffer> freed_;  // the most recent ones
};

}  // namespace kiln::emulator
