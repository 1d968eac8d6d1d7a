#include "runtime/src/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::runtime {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Error failed(const char* doing, const std::string& path) {
  return Error{ErrorCode::kEnvironment,
               std::string("cannot ") + doing + " '" + path + "': " + std::strerror(errno),
               {},
               {}};
}

// Returns a descriptor, which the caller closes.
Result<int> open_file(const std::string& path, struct stat& info) {
  // Non-blocking, because opening a pipe would wait for its writer.
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return failed("read", path);
  if (::fstat(opened, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(opened);
    return Error{ErrorCode::kEnvironment, "cannot read '" + path + "': it is no file", {}, {}};
  }
  return opened;
}

}  // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<MappedFile> map_file(const std::string& path) {
  struct stat info;
  KILN_TRY_ASSIGN(const int opened, open_file(path, info));
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    ::close(opened);
    return MappedFile();
  }
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened, 0);
  if (memory == MAP_FAILED) {
    const Error error = failed("map", path);
    ::close(opened);
    return error;
  }
  ::close(opened);
  return MappedFile(std::span(static_cast<const std::byte*>(memory), size));
}

Result<std::string> read_file(const std::string& path) {
  struct stat info;
  KILN_TRY_ASSIGN(const int opened, open_file(path, info));
  const File file(::fdopen(opened, "rb"), &std::fclose);
  if (file == nullptr) {
    const Error error = failed("read", path);
    ::close(opened);
    return error;
  }
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(info.st_size));
  char part[1 << 16];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, file.get())) > 0;) {
    bytes.append(part, count);
  }
  if (std::ferror(file.get()) != 0) return failed("read", path);
  return bytes;
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) return failed("write", path);
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !is_written) return failed("write", path);
  return {};
}

}  // namespace kiln::runtime
