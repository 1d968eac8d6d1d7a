#include "tools/system/folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

// False if the file was removed, with its folder, before it was locked: others would then lock
// another file.
bool is_same_file(const std::filesystem::path& file, int descriptor) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) != 0 ||
         (::stat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
          opened.st_ino == named.st_ino);
}

// Returns the link on the way to `file` whose target is missing, or an empty path.
std::filesystem::path dangling_link(std::filesystem::path file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  while (file.has_relative_path()) {
    file = file.parent_path();
    if (fs::is_symlink(file, ignored) && !fs::exists(file, ignored)) return file;
  }
  return {};
}

Error cannot_lock(const std::filesystem::path& file, const std::error_code& why) {
  Error error{.code = ErrorCode::kEnvironment, .message = "cannot write " + quote(file.string()) + ": "};
  const std::filesystem::path link = dangling_link(file);
  if (link.empty()) {
    error.message += why.message();
    return error.hint("choose a folder that you may write to: --out DIR");
  }
  std::error_code ignored;
  error.message += quote(link.string()) + " is a link to nothing";
  return error.note("it points to " + quote(std::filesystem::read_symlink(link, ignored).string()))
      .hint("make that folder, or choose another one: --out DIR");
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::filesystem::path& file, const Interrupt* interrupt,
                                    const std::function<void()>& waiting) {
  bool has_reported = false;
  while (true) {
    KILN_TRY_ASSIGN(FolderLock lock, take_once(file, interrupt, waiting, has_reported));
    if (is_same_file(file, lock.descriptor_)) return lock;
  }
}

Result<FolderLock> FolderLock::take_once(const std::filesystem::path& file,
                                         const Interrupt* interrupt,
                                         const std::function<void()>& waiting, bool& has_reported) {
  std::error_code made;
  std::filesystem::create_directories(file.parent_path(), made);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const std::error_code opened(errno, std::generic_category());
    return cannot_lock(file, made ? made : opened);
  }
  FolderLock lock(descriptor);
  KILN_TRY(lock.wait(LOCK_EX, interrupt, waiting, has_reported));
  return lock;
}

Result<FolderLock> FolderLock::share(const std::filesystem::path& file, const Interrupt* interrupt,
                                     const std::function<void()>& waiting) {
  FolderLock lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  bool has_reported = false;
  if (lock.descriptor_ >= 0) KILN_TRY(lock.wait(LOCK_SH, interrupt, waiting, has_reported));
  return lock;
}

Result<void> FolderLock::wait(int operation, const Interrupt* interrupt,
                              const std::function<void()>& waiting, bool& has_reported) {
  while (::flock(descriptor_, operation | LOCK_NB) != 0) {
    // On a file system without locks, builds run without one.
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (!std::exchange(has_reported, true)) waiting();
    if (interrupt != nullptr && *interrupt) {
      return Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kiln::tools
