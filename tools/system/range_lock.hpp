// Locks between processes that share a folder, many in one file: each is a range of it, one byte long.
//
// A lock ends with its process, however it ends, and holds between containers that share the folder:
// nothing is recorded that could be left behind. Threads of one process exclude one another too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/system/interrupt.hpp"

namespace kiln::tools {

class RangeLock {
 public:
  enum class Mode : bool { kShared, kExclusive };

  // Waits for the lock; makes `file` where there is none. Nothing when there can be no lock (the file
  // cannot be written, the file system has none), or when `interrupt` (may be null) was raised.
  static std::optional<RangeLock> take(const std::filesystem::path& file, std::uint64_t range,
                                       Mode mode, const Interrupt* interrupt);
  // The same without waiting: nothing when somebody else holds it.
  static std::optional<RangeLock> try_take(const std::filesystem::path& file, std::uint64_t range,
                                           Mode mode);
  ~RangeLock();
  RangeLock(RangeLock&& other) noexcept;
  RangeLock& operator=(RangeLock&& other) noexcept;

  // From shared to exclusive, if nobody else shares it; false leaves it shared.
  bool try_upgrade();

 private:
  RangeLock(int descriptor, std::uint64_t range) : descriptor_(descriptor), range_(range) {}
  int descriptor_;
  std::uint64_t range_;
};

}  // namespace kiln::tools
