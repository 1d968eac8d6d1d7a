#include "tools/system/folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.hpp"

namespace kiln::tools {

Result<FolderLock> FolderLock::take(const std::filesystem::path& file, const Interrupt* interrupt,
                                    const std::function<void()>& waiting) {
  std::error_code made;
  std::filesystem::create_directories(file.parent_path(), made);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const std::error_code opened(errno, std::generic_category());
    return Error{.code = ErrorCode::kEnvironment,
                 .message = "cannot write " + quote(file.string()) + ": " +
                            (made ? made : opened).message()}
        .hint("choose a folder that you may write to: --out DIR");
  }
  FolderLock lock(descriptor);
  bool said = false;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    // A file system without locks is no reason not to build.
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (!std::exchange(said, true)) waiting();
    if (interrupt != nullptr && *interrupt) {
      return Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kiln::tools
