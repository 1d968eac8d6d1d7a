#include "tools/system/range_lock.hpp"

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace kiln::tools {
namespace {

// Locks belong to the open file, not to the process. So threads exclude each other, and no close()
// elsewhere ends a lock.
int lock_range(int descriptor, std::uint64_t range, RangeLock::Mode mode) {
  struct flock lock = {};
  lock.l_type = mode == RangeLock::Mode::kShared ? F_RDLCK : F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<::off_t>(range & 0x7fff'ffff'ffff'fffeU);
  lock.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

bool is_held_by_another(int code) { return code == EAGAIN || code == EACCES || code == EINTR; }

int open_file(const std::filesystem::path& file) {
  return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}

}  // namespace

std::optional<RangeLock> RangeLock::take(const std::filesystem::path& file, std::uint64_t range,
                                         Mode mode, const Interrupt* interrupt) {
  const int descriptor = open_file(file);
  if (descriptor < 0) return std::nullopt;
  RangeLock lock(descriptor, range);
  for (int code = 0; (code = lock_range(descriptor, range, mode)) != 0;) {
    if (!is_held_by_another(code) || (interrupt != nullptr && *interrupt)) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

std::optional<RangeLock> RangeLock::try_take(const std::filesystem::path& file, std::uint64_t range,
                                             Mode mode) {
  const int descriptor = open_file(file);
  if (descriptor < 0) return std::nullopt;
  RangeLock lock(descriptor, range);
  if (lock_range(descriptor, range, mode) != 0) return std::nullopt;
  return lock;
}

RangeLock::RangeLock(RangeLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), range_(other.range_) {}

RangeLock& RangeLock::operator=(RangeLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(range_, other.range_);
  return *this;
}

RangeLock::~RangeLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool RangeLock::try_upgrade() { return lock_range(descriptor_, range_, Mode::kExclusive) == 0; }

}  // namespace kiln::tools
