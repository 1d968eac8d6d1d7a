// Locks between processes that share a folder. One file holds many locks, each a range of one byte.
//
// A lock ends with its process, however it ends, and works between containers that share the
// folder. No record can be left behind. Threads of one process also exclude each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/system/interrupt.hpp"

namespace kiln::tools {

class RangeLock {
 public:
  enum class Mode : bool { kShared, kExclusive };

  // Waits for the lock. Creates `file` if needed. Returns nothing if locking does not work (the
  // file cannot be written, the file system has no locks), or if `interrupt` (may be null) is
  // raised.
  static std::optional<RangeLock> take(const std::filesystem::path& file, std::uint64_t range,
                                       Mode mode, const Interrupt* interrupt);
  // The same without waiting. Returns nothing if the lock is held.
  static std::optional<RangeLock> try_take(const std::filesystem::path& file, std::uint64_t range,
                                           Mode mode);
  ~RangeLock();
  RangeLock(RangeLock&& other) noexcept;
  RangeLock& operator=(RangeLock&& other) noexcept;

  // Makes a shared lock exclusive if nobody else shares it. Otherwise returns false and keeps it
  // shared.
  bool try_upgrade();

 private:
  RangeLock(int descriptor, std::uint64_t range) : descriptor_(descriptor), range_(range) {}
  int descriptor_;
  std::uint64_t range_;
};

}  // namespace kiln::tools
