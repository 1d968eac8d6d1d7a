#include "emulator/memory_access.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/apertures.hpp"
#include "emulator/dispatch.hpp"
#include "emulator/memory_map.hpp"

namespace kiln::emulator {
namespace {

const char* verb(Access access) {
  switch (access) {
    case Access::kRead: return "a read";
    case Access::kWrite: return "a write";
    case Access::kAtomic: break;
  }
  return "an atomic update";
}

// Calls `move(offset in the wave's scratch, offset in the data, bytes)` for each dword or part of
// one.
template <typename Move>
void for_each_piece(const Wave& wave, const Instruction& in, const Location& location, int width,
                    int lane, u32 bytes, Move move) {
  for (u32 done = 0; done < bytes;) {
    const u32 offset = static_cast<u32>(location.address) + done;
    const u32 piece = std::min(4 - offset % 4, bytes - done);
    const u64 position = location.scratch_base +
                         (u64{offset / 4} * static_cast<u64>(width) + static_cast<u64>(lane)) * 4 +
                         offset % 4;
    if (position + piece > wave.scratch.size()) {
      raise(wave, in, FaultKind::kScratchOverrun,
            "an access to byte " + std::to_string(offset) + " of a lane's " +
                std::to_string(wave.scratch.size() / static_cast<std::size_t>(width)) +
                " bytes of scratch",
            lane);
    }
    move(position, done, piece);
    done += piece;
  }
}

}  // namespace

AddressRange find_range(const Wave& wave, const Instruction& in, u64 address, u32 bytes,
                        Access access, int lane) {
  const LaunchPlan& plan = *wave.workgroup->plan;
  for (const AddressRange& range : plan.own_ranges) {
    if (!range.holds(address, bytes)) continue;
    if (access == Access::kRead || range.writable) return range;
    raise(wave, in, FaultKind::kReadOnly,
          std::string(verb(access)) + " of " + std::to_string(bytes) +
              " bytes to the kernel's arguments or constants",
          lane);
  }
  if (const auto buffer = plan.memory->find(address, bytes)) return *buffer;
  const u32 service = low_half(address) >> kHostServiceShift;
  if (high_half(address) == kHostAperture && service < std::size(kHostServices)) {
    raise(wave, in, FaultKind::kUnsupported,
          "the kernel uses " + std::string(kHostServices[service]) +
              ", which needs a program on the host to answer",
          lane);
  }
  const NearBuffer near = plan.memory->nearest(address, bytes);
  raise(wave, in, near.is_freed ? FaultKind::kUseAfterFree : FaultKind::kOutOfBounds,
        std::string(verb(access)) + " of " + std::to_string(bytes) + " bytes at " + hex(address) +
            ", " + describe(near, plan),
        lane);
}

void raise_lds_overrun(const Wave& wave, const Instruction& in, u64 offset, u32 bytes, int lane) {
  raise(wave, in, FaultKind::kLdsOverrun,
        "an access of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
            " of the workgroup's " + std::to_string(wave.lds.size()) + " bytes of LDS",
        lane);
}

void read_scratch(const Wave& wave, const Instruction& in, const Location& location, int width,
                  int lane, u8* data, u32 bytes) {
  for_each_piece(wave, in, location, width, lane, bytes, [&](u64 position, u32 done, u32 piece) {
    std::memcpy(data + done, wave.scratch.data() + position, piece);
  });
}
void write_scratch(const Wave& wave, const Instruction& in, const Location& location, int width,
                   int lane, const u8* data, u32 bytes) {
  for_each_piece(wave, in, location, width, lane, bytes, [&](u64 position, u32 done, u32 piece) {
    std::memcpy(wave.scratch.data() + position, data + done, piece);
  });
}

}  // namespace kiln::emulator
