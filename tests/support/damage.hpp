// Damaged copies of a file: truncated after each byte, and with bytes changed at random, from a
// given seed.
//
// A reader must answer each copy with a value or an error. The address sanitizer finds reads
// outside of the input, because every copy lies in an allocation of exactly its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace kiln::testing {

template <typename Read>
void read_exact(std::string_view file, Read&& read) {
  const auto copy = std::make_unique<std::byte[]>(file.size());
  // A loop instead would take most of the time of an unoptimized test.
  if (!file.empty()) std::memcpy(copy.get(), file.data(), file.size());
  read(std::span<const std::byte>(copy.get(), file.size()));
}

// Calls `read` with the first 0, 1, 2, ... bytes of the file, but not with the whole file.
template <typename Read>
void cut_everywhere(std::string_view file, Read&& read) {
  for (std::size_t size = 0; size < file.size(); ++size) read_exact(file.substr(0, size), read);
}

// Calls `read` with copies of the file that have one to four bytes changed.
template <typename Read>
void change_bytes(std::string_view file, std::uint32_t seed, int copies, Read&& read) {
  std::mt19937 random(seed);
  for (int i = 0; i < copies; ++i) {
    std::string copy(file);
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      constexpr char kOdd[] = {0, 1, 0x7f, '\x80', '\xff'};
      char& byte = copy[random() % copy.size()];
      const auto choice = random() % 8;
      byte = choice < 5 ? kOdd[choice] : static_cast<char>(random());
    }
    read_exact(copy, read);
  }
}

}  // namespace kiln::testing
