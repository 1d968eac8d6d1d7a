// Reads, maps and writes whole files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::runtime {

// Errors: kEnvironment, with the path and the system's reason.
Result<std::string> read_file(const std::string& path);
Result<void> write_file(const std::string& path, std::string_view bytes);

// A read-only mapping of a file's bytes. Empty by default.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};
// Errors: as for read_file.
Result<MappedFile> map_file(const std::string& path);

}  // namespace kiln::runtime
