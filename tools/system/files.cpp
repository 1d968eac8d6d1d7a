#include "tools/system/files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

Error system_error(std::string_view verb, const fs::path& path, int code) {
  Error error{ErrorCode::kEnvironment,
              "cannot " + std::string(verb) + " " + quote(path.string()) + ": " +
                  std::generic_category().message(code),
              {},
              {}};
  if (code == ENOSPC || code == EDQUOT) error.hint("free some disk space and run the command again");
  const bool is_refused = code == EROFS || code == EACCES;
  const bool only_looks = verb == "read" || verb == "list";
  if (is_refused && !only_looks) error.hint("choose a folder that you may write to");
  return error;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // close(2) reports what a delayed write could not do.
  int close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class RealFiles final : public Files {
 public:
  Result<std::string> read(const fs::path& path) const override {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
      Error error = system_error("read", path, errno);
      if (errno == ENOENT || errno == ENOTDIR) error.code = ErrorCode::kInvalidInput;
      return error;
    }
    struct stat info;
    std::string bytes;
    if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
      bytes.resize(static_cast<std::size_t>(info.st_size));
    }
    // The size may be wrong (a pipe, /proc, a growing file): read until the end says so.
    std::size_t held = 0;
    while (true) {
      if (held == bytes.size()) bytes.resize(held + 4096);
      const ::ssize_t count = ::read(file.get(), bytes.data() + held, bytes.size() - held);
      if (count < 0) {
        if (errno == EINTR) continue;
        return system_error("read", path, errno);
      }
      if (count == 0) break;
      held += static_cast<std::size_t>(count);
    }
    bytes.resize(held);
    return bytes;
  }

  Result<void> write(const fs::path& path, std::string_view bytes) override {
    if (path.has_parent_path()) KILN_TRY(make_directories(path.parent_path()));
    const fs::path aside = path.parent_path() / aside_name();
    Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) return system_error("write", path, errno);
    int code = write_all(file.get(), bytes);
    if (const int closed = file.close(); code == 0) code = closed;
    if (code == 0 && ::rename(aside.c_str(), path.c_str()) != 0) code = errno;
    if (code == 0) return {};
    ::unlink(aside.c_str());
    return system_error("write", path, code);
  }

  Result<void> write_if_changed(const fs::path& path, std::string_view bytes) override {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        static_cast<std::size_t>(info.st_size) == bytes.size()) {
      const Result<std::string> old = read(path);
      if (old && *old == bytes) return {};
    }
    return write(path, bytes);
  }

  std::optional<FileStatus> status(const fs::path& path) const override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    return FileStatus{.device = info.st_dev,
                      .inode = info.st_ino,
                      .size = static_cast<std::uint64_t>(info.st_size),
                      .modified_ns = nanoseconds(info.st_mtim),
                      .changed_ns = nanoseconds(info.st_ctim)};
  }

  Result<void> touch(const fs::path& path) override {
    if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) {
      return system_error("touch", path, errno);
    }
    return {};
  }

  Result<void> rename(const fs::path& from, const fs::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return system_error("rename " + quote(from.string()) + " to", to, errno);
    }
    return {};
  }

  Result<void> make_directories(const fs::path& path) override {
    std::error_code code;
    fs::create_directories(path, code);
    // Where a file stands in the way, some versions of the library report no error.
    if (!code && !fs::is_directory(path, code) && !code) {
      code = std::make_error_code(std::errc::not_a_directory);
    }
    if (code) return system_error("make folder", path, code.value());
    return {};
  }

  Result<void> remove_all(const fs::path& path) override {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) return system_error("remove", path, code.value());
    return {};
  }

  Result<std::vector<std::string>> list(const fs::path& folder) const override {
    std::error_code code;
    fs::directory_iterator entries(folder, code);
    std::vector<std::string> names;
    for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
      names.push_back(entries->path().filename().string());
    }
    if (code) {
      Error error = system_error("list", folder, code.value());
      if (code.value() == ENOENT) error.code = ErrorCode::kInvalidInput;
      return error;
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  // Short, so that it fits wherever the target's own name fits.
  std::string aside_name() {
    return ".kiln-" + std::to_string(::getpid()) + "-" + std::to_string(++writes_) + "~";
  }

  std::atomic<unsigned> writes_{0};
};

}  // namespace

std::unique_ptr<Files> real_files() { return std::make_unique<RealFiles>(); }

}  // namespace kiln::tools
