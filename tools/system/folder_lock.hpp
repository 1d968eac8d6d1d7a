// One build at a time in an out folder.
#pragma once

#include <filesystem>
#include <functional>

#include "kiln/result.hpp"
#include "tools/system/interrupt.hpp"

namespace kiln::tools {

// Holds `file` locked against other processes until it is destroyed. The lock ends with the process,
// however it ends.
class FolderLock {
 public:
  // Makes the file where there is none. When another process holds it, calls `waiting` once and then
  // waits; kInterrupted when `interrupt` (may be null) is raised meanwhile.
  static Result<FolderLock> take(const std::filesystem::path& file, const Interrupt* interrupt,
                                 const std::function<void()>& waiting);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  static Result<FolderLock> take_once(const std::filesystem::path& file, const Interrupt* interrupt,
                                      const std::function<void()>& waiting, bool& said);
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace kiln::tools
