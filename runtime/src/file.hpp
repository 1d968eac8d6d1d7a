// Whole files, read, mapped and written.
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

// A file's bytes in memory, read only, as long as the object lives. Empty when default-made.
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
// Errors: as read_file.
Result<MappedFile> map_file(const std::string& path);

}  // namespace kiln::runtime
