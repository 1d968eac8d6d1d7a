// Global memory: the buffers that a program allocated, and those that it freed.
//
// Buffers lie far apart in an address space of their own, and addresses are used again as late as
// possible, so that an access outside a buffer, or to one that was freed, is seen as what it is.
// Fresh memory is filled with 0xA5. Thread-safe.
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

inline constexpr u8 kFreshByte = 0xa5;

enum class Tracking : bool { kNo, kInitialisation };

// Bytes of this machine's memory: what an emulated device has.
u64 machine_memory();

// The buffer that an address outside all buffers is nearest to.
struct NearBuffer {
  u64 begin = 0;
  u64 bytes = 0;  // 0: there is none
  bool is_freed = false;
  u64 address = 0;  // that was asked for
};
// "64 bytes past the end of argument 2 (a buffer of 4096 bytes)"
std::string describe(const NearBuffer& near, const LaunchPlan& plan);

class MemoryMap {
 public:
  explicit MemoryMap(Tracking tracking = Tracking::kNo) : tracking_(tracking) {}
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap();

  // Errors: kEnvironment (the buffers would have more than machine_memory() in all).
  Result<void*> allocate(std::size_t bytes);
  Result<void> free(void* memory);

  std::optional<AddressRange> find(u64 address, u64 bytes) const;
  NearBuffer nearest(u64 address, u64 bytes) const;
  // The bytes from there to the end of the buffer that holds the address: none where there is no buffer. Of an
  // address outside of the space where buffers lie, nothing.
  std::optional<u64> room(u64 address) const;

  // Which bytes of buffers were ever written. Without tracking, all were.
  void mark_written(u64 address, std::size_t bytes);
  void copy_marks(u64 target, u64 source, std::size_t bytes);
  // Bit i: byte i was never written. For at most 64 bytes.
  u64 unwritten(u64 address, u32 bytes) const;

 private:
  struct Buffer {
    u64 bytes = 0;
    std::vector<bool> written;  // only when tracking
  };
  using Buffers = std::map<u64, Buffer>;
  Buffers::const_iterator holder(u64 address) const;
  Result<u64> reserve(std::size_t span);

  const Tracking tracking_;
  mutable std::shared_mutex mutex_;
  u64 arena_ = 0;
  u64 next_ = 0;
  Buffers buffers_;
  u64 allocated_ = 0;  // bytes of their pages
  std::deque<NearBuffer> freed_;  // the latest ones
};

}  // namespace kiln::emulator
