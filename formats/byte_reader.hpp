// Reads numbers and pieces from bytes that have not been checked yet.
//
// Every reader in this folder uses these two: `slice` is the only place that adds an offset and a
// size from a file, and ByteReader is a cursor that cannot leave its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/little_endian.hpp"
#include "kiln/result.hpp"

namespace kiln {

using Bytes = std::span<const std::byte>;

// Returns `size` bytes from `offset` on, or nothing if they are not all inside `bytes`.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Returns the text from `offset` to the next NUL, or nothing if there is no NUL.
inline std::optional<std::string_view> c_string(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const std::string_view text = as_text(bytes.subspan(static_cast<std::size_t>(offset)));
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

// A cursor over bytes. A read past the end returns zero or an empty span, and the reader stays
// failed: read a whole record and then check once.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  Bytes take(std::uint64_t size) {
    const std::optional<Bytes> piece = slice(bytes_, position_, size);
    if (!piece) {
      failed_ = true;
      position_ = bytes_.size();
      return {};
    }
    position_ += piece->size();
    return *piece;
  }
  void skip(std::uint64_t size) { take(size); }
  // Advances to the next multiple of `alignment` from the start of the input.
  void align(std::size_t alignment) {
    const std::size_t over = position_ % alignment;
    if (over != 0) skip(alignment - over);
  }

  template <typename Integer>
  Integer little() {
    const Bytes piece = take(sizeof(Integer));
    return piece.empty() ? Integer{0} : load_le<Integer>(piece.data());
  }
  template <typename Integer>
  Integer big() {
    std::make_unsigned_t<Integer> value = 0;
    for (const std::byte byte : take(sizeof(Integer))) {
      // Uses 64 bits, because a narrow type cannot be shifted by its own width.
      value = static_cast<std::make_unsigned_t<Integer>>((std::uint64_t{value} << 8) |
                                                         std::to_integer<std::uint64_t>(byte));
    }
    return static_cast<Integer>(value);
  }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

// Returns the error that every reader in this folder uses: the file is not what it claims to be.
inline Error malformed(std::string message) {
  Error error;
  error.code = ErrorCode::kInvalidInput;
  error.message = std::move(message);
  return error;
}

// Formats a number for error messages, such as "0x1f".
std::string hex(std::uint64_t value);

}  // namespace kiln
