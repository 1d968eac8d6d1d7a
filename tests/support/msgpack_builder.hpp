// Encodes MessagePack values as bytes, in their shortest form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::testing::msgpack {

inline std::string tagged(unsigned tag, std::uint64_t value, std::size_t bytes) {
  std::string text(1, static_cast<char>(tag));
  for (std::size_t i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::string number(std::uint64_t value) {
  if (value < 0x80) return std::string(1, static_cast<char>(value));
  if (value < 0x100) return tagged(0xcc, value, 1);
  if (value < 0x10000) return tagged(0xcd, value, 2);
  return value <= 0xffffffff ? tagged(0xce, value, 4) : tagged(0xcf, value, 8);
}

inline std::string text(std::string_view value) {
  const std::string head = value.size() < 32
                               ? std::string(1, static_cast<char>(0xa0 | value.size()))
                               : tagged(0xd9, value.size(), 1);
  return head + std::string(value);
}

inline std::string array(const std::vector<std::string>& elements) {
  std::string bytes = elements.size() < 16
                          ? std::string(1, static_cast<char>(0x90 | elements.size()))
                          : tagged(0xdc, elements.size(), 2);
  for (const std::string& element : elements) bytes += element;
  return bytes;
}

// Keys are text; values are already encoded.
inline std::string map(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string bytes = pairs.size() < 16 ? std::string(1, static_cast<char>(0x80 | pairs.size()))
                                        : tagged(0xde, pairs.size(), 2);
  for (const auto& [key, value] : pairs) bytes += text(key) + value;
  return bytes;
}

}  // namespace kiln::testing::msgpack
