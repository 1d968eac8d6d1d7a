// Allows one build at a time in an out folder.
#pragma once

#include <filesystem>
#include <functional>

#include "kiln/result.hpp"
#include "tools/system/interrupt.hpp"

namespace kiln::tools {

// Holds a lock on `file` against other processes until destroyed. The lock ends with the process,
// however it ends.
class FolderLock {
 public:
  // Creates the file if needed. If another process holds the lock, calls `waiting` once and then
  // waits. The error is kInterrupted if `interrupt` (may be null) is raised meanwhile.
  static Result<FolderLock> take(const std::filesystem::path& file, const Interrupt* interrupt,
                                 const std::function<void()>& waiting);
  // Keeps those out that take() the lock, but not others that share it. Waits likewise. If the file
  // is missing or cannot be read, nothing is locked.
  static Result<FolderLock> share(const std::filesystem::path& file, const Interrupt* interrupt,
                                  const std::function<void()>& waiting);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  static Result<FolderLock> take_once(const std::filesystem::path& file, const Interrupt* interrupt,
                                      const std::function<void()>& waiting, bool& has_reported);
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  // `operation`: LOCK_EX or LOCK_SH.
  Result<void> wait(int operation, const Interrupt* interrupt, const std::function<void()>& waiting,
                    bool& has_reported);
  int descriptor_;
};

}  // namespace kiln::tools
