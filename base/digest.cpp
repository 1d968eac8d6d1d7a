#include "base/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256_x86.hpp"

namespace kiln {
namespace {

// FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first
// 64 primes.
constexpr std::uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

void compress_portably(std::array<std::uint32_t, 8>& state, const std::uint8_t* block,
                       std::size_t count) {
  for (; count != 0; --count, block += 64) {
    std::uint32_t w[64];
    for (std::size_t t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
      const std::uint32_t s0 =
          std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
      const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                               ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
      const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                               ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += add[i];
  }
}

}  // namespace

Sha256::Sha256(Sha256Way way)
    : way_(way),
      state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const std::uint8_t* block, std::size_t count) {
  if (way_ == Sha256Way::kFastest && has_sha_instructions()) {
    compress_by_instructions(state_.data(), block, count, kRoundConstants);
  } else {
    compress_portably(state_, block, count);
  }
}

void Sha256::update(std::span<const std::byte> data) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  std::size_t size = data.size();
  const std::size_t buffered = static_cast<std::size_t>(length_ % 64);
  length_ += size;
  if (buffered != 0) {
    const std::size_t copied = std::min(size, 64 - buffered);
    std::memcpy(buffer_.data() + buffered, bytes, copied);
    bytes += copied, size -= copied;
    if (buffered + copied < 64) return;
    compress(buffer_.data(), 1);
  }
  compress(bytes, size / 64);
  if (size % 64 != 0) std::memcpy(buffer_.data(), bytes + size / 64 * 64, size % 64);
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text))); }

Digest Sha256::finish() {
  const std::uint64_t bits = length_ * 8;
  const std::uint8_t pad[64] = {0x80};
  const std::size_t buffered = static_cast<std::size_t>(length_ % 64);
  update(std::as_bytes(std::span(pad, buffered < 56 ? 56 - buffered : 120 - buffered)));
  std::uint8_t tail[8];
  for (int i = 0; i < 8; ++i) tail[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  update(std::as_bytes(std::span(tail)));
  Digest digest;
  for (std::size_t i = 0; i < 32; ++i) {
    digest.bytes[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::uint64_t Digest::prefix64() const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

bool Digest::parse(std::string_view hex, Digest& out) {
  if (hex.size() != 64) return false;
  for (std::size_t i = 0; i < 64; ++i) {
    const char c = hex[i];
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else {
      return false;
    }
    out.bytes[i / 2] = static_cast<std::uint8_t>(i % 2 == 0 ? digit << 4 : out.bytes[i / 2] | digit);
  }
  return true;
}

Digest sha256(std::span<const std::byte> data) {
  Sha256 hash;
  hash.update(data);
  return hash.finish();
}

Digest sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

KeyHasher& KeyHasher::add(std::string_view label, std::string_view value) {
  const std::string size = std::to_string(value.size());
  hash_.update(label);
  hash_.update(std::string_view("\0", 1));
  hash_.update(size);
  hash_.update(std::string_view("\0", 1));
  hash_.update(value);
  transcript_.append(label).append(": ").append(value).append("\n");
  return *this;
}

KeyHasher& KeyHasher::add(std::string_view label, const Digest& value) {
  return add(label, value.hex());
}

Digest KeyHasher::finish() { return hash_.finish(); }

}  // namespace kiln
