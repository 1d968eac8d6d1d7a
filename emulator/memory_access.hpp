// Accesses of instructions to memory: global buffers, LDS and scratch. Each access is checked.
#pragma once

#include <cstring>

#include "emulator/fault.hpp"
#include "emulator/wave.hpp"

namespace kiln::emulator {

enum class Space : u8 { kGlobal, kLds, kScratch };
enum class Access : u8 { kRead, kWrite, kAtomic };
enum class Update : u8 { kPlain, kCompareAndSwap };

// Where one lane reads or writes.
struct Location {
  Space space = Space::kGlobal;
  u64 address = 0;       // an offset in LDS and scratch
  u32 scratch_base = 0;  // of the wave
};

// Watches the accesses of a checked launch: see checks.hpp.
class AccessObserver {
 public:
  AccessObserver() = default;
  AccessObserver(const AccessObserver&) = delete;
  AccessObserver& operator=(const AccessObserver&) = delete;
  virtual ~AccessObserver() = default;

  // Called after a load. May change the loaded bytes.
  virtual void on_load(Wave& wave, const Instruction& in, const Location& location, int lane,
                       u8* data, u32 bytes) = 0;
  // Called before a store. Returns false if the store must not be done.
  virtual bool on_store(Wave& wave, const Instruction& in, const Location& location, int lane,
                        const u8* data, u32 bytes) = 0;
  // Called before an atomic on global memory. Returns true if it has filled in `old` and the atomic
  // must not be done.
  virtual bool replay_atomic(Wave& wave, const Instruction& in, const Location& location, int lane,
                             const u8* operands, u32 operand_bytes, u8* old, u32 bytes) = 0;
  // Called after an atomic.
  virtual void on_atomic(Wave& wave, const Instruction& in, const Location& location, int lane,
                         const u8* operands, u32 operand_bytes, const u8* old, u32 bytes,
                         Update kind) = 0;
};

// Returns the range that contains those bytes, or raises a fault that names the nearest buffer.
AddressRange find_range(const Wave& wave, const Instruction& in, u64 address, u32 bytes,
                        Access access, int lane);
[[noreturn]] void raise_lds_overrun(const Wave& wave, const Instruction& in, u64 offset, u32 bytes,
                                    int lane);
// Scratch is interleaved: it holds the first dword of every lane, then the second, and so on.
void read_scratch(const Wave& wave, const Instruction& in, const Location& location, int width,
                  int lane, u8* data, u32 bytes);
void write_scratch(const Wave& wave, const Instruction& in, const Location& location, int width,
                   int lane, const u8* data, u32 bytes);

inline u8* global_pointer(Wave& wave, const Instruction& in, u64 address, u32 bytes, Access access,
                          int lane) {
  AddressRange& range = wave.ranges[in.index % wave.ranges.size()];
  if (!range.holds(address, bytes) || (access != Access::kRead && !range.writable)) [[unlikely]] {
    range = find_range(wave, in, address, bytes, access, lane);
  }
  return reinterpret_cast<u8*>(address);
}
inline u8* lds_pointer(Wave& wave, const Instruction& in, u64 offset, u32 bytes, int lane) {
  if (offset + bytes > wave.lds.size()) [[unlikely]]
    raise_lds_overrun(wave, in, offset, bytes, lane);
  return wave.lds.data() + offset;
}

// With a constant size and inlining, most accesses compile to one move.
template <int W, u32 kBytes>
[[gnu::always_inline]] inline void load_bytes(Wave& wave, const Instruction& in,
                                              const Location& location, int lane, void* data) {
  u8* target = static_cast<u8*>(data);
  if (location.space == Space::kGlobal) {
    std::memcpy(target, global_pointer(wave, in, location.address, kBytes, Access::kRead, lane),
                kBytes);
  } else if (location.space == Space::kLds) {
    std::memcpy(target, lds_pointer(wave, in, location.address, kBytes, lane), kBytes);
  } else {
    read_scratch(wave, in, location, W, lane, target, kBytes);
  }
  if (wave.observer != nullptr) [[unlikely]] {
    wave.observer->on_load(wave, in, location, lane, target, kBytes);
  }
}

template <int W, u32 kBytes>
[[gnu::always_inline]] inline void store_bytes(Wave& wave, const Instruction& in,
                                               const Location& location, int lane,
                                               const void* data) {
  const u8* source = static_cast<const u8*>(data);
  u8* target = nullptr;
  if (location.space == Space::kGlobal) {
    target = global_pointer(wave, in, location.address, kBytes, Access::kWrite, lane);
  } else if (location.space == Space::kLds) {
    target = lds_pointer(wave, in, location.address, kBytes, lane);
  }
  if (wave.observer != nullptr) [[unlikely]] {
    if (!wave.observer->on_store(wave, in, location, lane, source, kBytes)) return;
  }
  if (target != nullptr) {
    std::memcpy(target, source, kBytes);
  } else {
    write_scratch(wave, in, location, W, lane, source, kBytes);
  }
}

// Replaces the value in memory by the result of `formula` and returns the old value. Safe against
// concurrent updates of global memory by other workgroups.
template <Update kKind, typename T, typename F>
T update(Wave& wave, const Instruction& in, const Location& location, int lane, T first, T second,
         F formula) {
  const T operands[2] = {first, second};
  const u8* operand_bytes = reinterpret_cast<const u8*>(operands);
  T old{};
  u8* pointer = nullptr;
  if (location.space == Space::kGlobal) {
    pointer = global_pointer(wave, in, location.address, sizeof(T), Access::kAtomic, lane);
    if (location.address % sizeof(T) != 0) {
      raise(wave, in, FaultKind::kMisaligned,
            "an atomic of " + std::to_string(sizeof(T)) +
                " bytes at an address that is no multiple of them",
            lane);
    }
    if (wave.observer != nullptr &&
        wave.observer->replay_atomic(wave, in, location, lane, operand_bytes, sizeof operands,
                                     reinterpret_cast<u8*>(&old), sizeof old)) [[unlikely]] {
      return old;
    }
    T* shared = reinterpret_cast<T*>(pointer);
    old = __atomic_load_n(shared, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(shared, &old, formula(old, first, second), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
  } else {
    if (location.space == Space::kScratch) {
      raise(wave, in, FaultKind::kUnsupported, "an atomic on scratch memory", lane);
    }
    pointer = lds_pointer(wave, in, location.address, sizeof(T), lane);
    std::memcpy(&old, pointer, sizeof old);
    const T updated = formula(old, first, second);
    std::memcpy(pointer, &updated, sizeof updated);
  }
  if (wave.observer != nullptr) [[unlikely]] {
    wave.observer->on_atomic(wave, in, location, lane, operand_bytes, sizeof operands,
                             reinterpret_cast<const u8*>(&old), sizeof old, kKind);
  }
  return old;
}

}  // namespace kiln::emulator
