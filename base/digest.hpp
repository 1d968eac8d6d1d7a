// SHA-256 (FIPS 180-4), and a labelled hash built on it for cache keys.
//
// Digest values are plain; Sha256 and KeyHasher are not shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  std::string hex() const;                   // 64 lower-case digits
  std::uint64_t prefix64() const;            // the first 8 bytes, big-endian
  static bool parse(std::string_view hex, Digest& out);  // false when not 64 hex digits
  auto operator<=>(const Digest&) const = default;
};

// Both ways give the same result. kPortable is for tests.
enum class Sha256Way : std::uint8_t { kFastest, kPortable };

class Sha256 {
 public:
  explicit Sha256(Sha256Way way = Sha256Way::kFastest);
  void update(std::span<const std::byte> data);
  void update(std::string_view text);
  Digest finish();  // the object must not be used afterwards

 private:
  void compress(const std::uint8_t* block, std::size_t count);
  Sha256Way way_;
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_{};
  std::uint64_t length_ = 0;
};

Digest sha256(std::string_view text);
Digest sha256(std::span<const std::byte> data);

// Hashes labelled values such that different lists never give the same input: each value is written
// as label, NUL, decimal size, NUL, bytes.
class KeyHasher {
 public:
  KeyHasher& add(std::string_view label, std::string_view value);
  KeyHasher& add(std::string_view label, const Digest& value);
  Digest finish();
  // Returns a line "label: value" for each value, in the order added. Shows what a cache key was
  // made of.
  const std::string& transcript() const { return transcript_; }

 private:
  Sha256 hash_;
  std::string transcript_;
};

}  // namespace kiln
