#include "tools/system/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/cache_folder.hpp"
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
  if (code == ENOSPC || code == EDQUOT)
    error.hint("free some disk space and run the command again");
  if (code == EFBIG) error.hint("raise the limit on the size of files (ulimit -f)");
  const bool is_refused = code == EROFS || code == EACCES;
  const bool only_looks = verb == "read" || verb == "list";
  if (is_refused && !only_looks) error.hint("choose a folder that you may write to");
  if (code == EACCES && verb == "read") error.hint("let the user who runs kiln read it: chmod +r");
  if (code == EISDIR && !only_looks) error.hint("remove the folder of that name");
  return error;
}

constexpr std::uint64_t kMaxFileSize = std::uint64_t{4} << 30;

Error too_large(const fs::path& path) {
  return Error{ErrorCode::kInvalidInput,
               quote(path.string()) + " has more than the " + std::to_string(kMaxFileSize) +
                   " bytes that kiln reads",
               {},
               {}};
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
  // close(2) reports errors of delayed writes.
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

// Returns 16 random hexadecimal digits. Process ids are not unique: in a container, every process
// may have number 1.
std::string random_name() {
  unsigned char bytes[8] = {};
  for (std::size_t filled = 0; filled < sizeof bytes;) {
    const ::ssize_t count = ::getrandom(bytes + filled, sizeof bytes - filled, 0);
    if (count > 0) filled += static_cast<std::size_t>(count);
  }
  std::string name;
  for (const unsigned char byte : bytes) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

PathKind kind_of(::mode_t mode) {
  return S_ISREG(mode) ? PathKind::kFile : S_ISDIR(mode) ? PathKind::kFolder : PathKind::kOther;
}

// Non-blocking, because opening a pipe would wait for its writer. Sets errno on failure.
int open_to_read(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

// Returns the size that the file system reports, which may be wrong. Refuses files that are never
// read.
Result<std::uint64_t> size_to_read(const Descriptor& file, const fs::path& path) {
  struct stat info;
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    Error error = system_error("read", path, errno);
    if (errno == ENOENT || errno == ENOTDIR) error.code = ErrorCode::kInvalidInput;
    return error;
  }
  if (kind_of(info.st_mode) == PathKind::kOther) {
    return Error{ErrorCode::kEnvironment,
                 "cannot read " + quote(path.string()) + ": it is no file, but a pipe or a device"};
  }
  const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  if (size > kMaxFileSize) return too_large(path);
  return size;
}

::ssize_t read_some(const Descriptor& file, char* buffer, std::size_t capacity) {
  ::ssize_t count = -1;
  do {
    count = ::read(file.get(), buffer, capacity);
  } while (count < 0 && errno == EINTR);
  return count;
}

class RealFiles final : public Files {
 public:
  PathKind kind(const fs::path& path) const override {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) return kind_of(info.st_mode);
    return errno == ENOENT || errno == ENOTDIR ? PathKind::kNone : PathKind::kHidden;
  }

  Result<std::string> read(const fs::path& path) const override {
    const Descriptor file(open_to_read(path));
    KILN_TRY_ASSIGN(const std::uint64_t size, size_to_read(file, path));
    // The size may be wrong (/proc, a growing file), so this reads to the end of the file. The
    // extra byte avoids growing the buffer if the size is right.
    std::string bytes(static_cast<std::size_t>(size) + 1, '\0');
    std::size_t filled = 0;
    while (true) {
      if (filled == bytes.size()) bytes.resize(filled + 4096);
      const ::ssize_t count = read_some(file, bytes.data() + filled, bytes.size() - filled);
      if (count < 0) return system_error("read", path, errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
      if (filled > kMaxFileSize) return too_large(path);
    }
    bytes.resize(filled);
    return bytes;
  }

  Result<Digest> digest(const fs::path& path) const override {
    const Descriptor file(open_to_read(path));
    KILN_TRY_ASSIGN(const std::uint64_t size, size_to_read(file, path));
    // Small pieces stay in the processor's cache from the copy to the digest.
    constexpr std::size_t kPiece = std::size_t{128} << 10;
    std::string piece(std::clamp(static_cast<std::size_t>(size) + 1, std::size_t{4096}, kPiece),
                      '\0');
    Sha256 hash;
    std::uint64_t total = 0;
    while (true) {
      const ::ssize_t count = read_some(file, piece.data(), piece.size());
      if (count < 0) return system_error("read", path, errno);
      if (count == 0) return hash.finish();
      hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
      total += static_cast<std::uint64_t>(count);
      if (total > kMaxFileSize) return too_large(path);
    }
  }

  Result<void> write(const fs::path& path, std::string_view bytes) override {
    if (path.has_parent_path()) KILN_TRY(make_directories(path.parent_path()));
    // A short name fits wherever the target's own name fits.
    const fs::path temporary = path.parent_path() / (".kiln-" + random_name() + "~");
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) return system_error("write", path, errno);
    int code = write_all(file.get(), bytes);
    if (const int closed = file.close(); code == 0) code = closed;
    if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
    if (code == 0) return {};
    ::unlink(temporary.c_str());
    return system_error("write", path, code);
  }

  std::optional<FileStatus> status(const std::string& path) const override {
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
    // If a file is in the way, some versions of the library report no error.
    if (!code && !fs::is_directory(path, code) && !code) {
      code = std::make_error_code(std::errc::not_a_directory);
    }
    if (code) return system_error("make folder", path, code.value());
    return {};
  }

  Result<fs::path> make_unique_folder(const fs::path& parent) override {
    KILN_TRY(make_directories(parent));
    while (true) {
      const fs::path folder = parent / random_name();
      if (::mkdir(folder.c_str(), 0777) == 0) return folder;
      if (errno != EEXIST) return system_error("make folder", folder, errno);
    }
  }

  Result<void> remove_all(const fs::path& path) override {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) return system_error("remove", path, code.value());
    return {};
  }

  Result<std::vector<std::string>> list(const fs::path& folder) const override {
    // The library's iterator ends the program if there is no memory for a name.
    const std::unique_ptr<::DIR, int (*)(::DIR*)> opened(::opendir(folder.c_str()), ::closedir);
    std::vector<std::string> names;
    int code = opened == nullptr ? errno : 0;
    while (code == 0) {
      errno = 0;
      const ::dirent* const entry = ::readdir(opened.get());
      if (entry == nullptr) {
        code = errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (code != 0) {
      Error error = system_error("list", folder, code);
      if (code == ENOENT) error.code = ErrorCode::kInvalidInput;
      return error;
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path link_target(const fs::path& path) const override {
    std::error_code not_a_link;
    return fs::read_symlink(path, not_a_link);
  }

  bool leads_outside(const fs::path& root, const fs::path& path) const override {
    const Descriptor base(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (base.get() < 0) return false;  // no root, no links below it
    // Missing folders will be created without links, so only the existing part can lead outside.
    fs::path folder = path.lexically_relative(root).parent_path();
    for (; !folder.empty(); folder = folder.parent_path()) {
      open_how how = {};
      how.flags = O_PATH | O_CLOEXEC;
      how.resolve = RESOLVE_BENEATH;
      const Descriptor found(
          static_cast<int>(::syscall(SYS_openat2, base.get(), folder.c_str(), &how, sizeof how)));
      if (found.get() >= 0) return false;
      if (errno == EXDEV || errno == ELOOP) return true;
      // The kernel lacks openat2, or a container's filter blocks it.
      if (errno == ENOSYS || errno == EPERM || errno == EINVAL)
        return resolves_outside(root, folder);
    }
    return false;
  }

  // A new entry changes both times of a folder. Renaming the folder changes only one.
  bool path_redirected_since(const fs::path& path, std::int64_t time_ns) const override {
    constexpr int kMaxLinks = 40;  // Linux's limit
    std::string resolved, rest = fs::absolute(path).native();
    for (int links = 0; !rest.empty() && links < kMaxLinks;) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      const std::string name = rest.substr(0, slash);
      rest.erase(0, slash + 1);
      if (name.empty()) continue;
      const std::string current = resolved + "/" + name;
      struct stat info;
      if (::lstat(current.c_str(), &info) != 0) return false;
      const std::int64_t changed = nanoseconds(info.st_ctim);
      if (!S_ISLNK(info.st_mode)) {
        const bool was_renamed = S_ISDIR(info.st_mode) && changed != nanoseconds(info.st_mtim);
        if (was_renamed && changed >= time_ns) return true;
        resolved = current;
        continue;
      }
      if (changed >= time_ns) return true;
      std::error_code code;
      const std::string target = fs::read_symlink(current, code).native();
      if (code) return false;
      if (target.starts_with('/')) resolved.clear();
      rest = target + "/" + rest;
      ++links;
    }
    return false;
  }

  std::string why_untrusted(const fs::path& folder) const override {
    return kiln::why_untrusted(folder);
  }

 private:
  static bool resolves_outside(const fs::path& root, const fs::path& folder) {
    std::error_code code;
    const fs::path real_root = fs::canonical(root, code);
    const fs::path resolved = fs::weakly_canonical(root / folder, code);
    return code || *resolved.lexically_relative(real_root).begin() == "..";
  }
};

}  // namespace

Result<void> Files::write_if_changed(const fs::path& path, std::string_view bytes) {
  const std::optional<FileStatus> known = status(path.native());
  if (known && known->size == bytes.size() && kind(path) == PathKind::kFile) {
    const Result<std::string> old = read(path);
    if (old && *old == bytes) return {};
  }
  return write(path, bytes);
}

std::vector<std::string> files_below(const Files& files, const fs::path& root,
                                     const std::string& folder, int depth) {
  std::vector<std::string> found;
  const Result<std::vector<std::string>> names = files.list(root / folder);
  if (!names) return found;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    const PathKind kind = files.kind(root / path);
    if (kind == PathKind::kFile) found.push_back(path);
    if (kind != PathKind::kFolder || depth == 0) continue;
    for (std::string& inner : files_below(files, root, path, depth - 1))
      found.push_back(std::move(inner));
  }
  return found;
}

Result<void> remove_with_empty_folders(Files& files, const fs::path& root, const fs::path& path) {
  KILN_TRY(files.remove_all(root / path));
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const Result<std::vector<std::string>> left = files.list(root / folder);
    if (!left || !left->empty() || !files.remove_all(root / folder)) break;
  }
  return {};
}

std::unique_ptr<Files> real_files() { return std::make_unique<RealFiles>(); }

}  // namespace kiln::tools
