// A fuzz target: a reader of bytes, and the files to start from.
//
// Each fuzz_*.cpp defines both. With KILN_BUILD_FUZZERS (clang) it becomes a libFuzzer program. In
// every build it becomes a fast test with driver.cpp, which changes the seeds in the same way each
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kiln::testing {

std::vector<std::string> fuzz_seeds();

// Ends the program, which tells the fuzzer of the broken promise.
inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes an input apart from the front; returns zeros and empty pieces once it is used up. For
// targets that build a well-formed frame around the fuzzed part.
class Pieces {
 public:
  Pieces(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  // Returns a piece whose length is in two bytes of the input.
  std::string piece() {
    const std::size_t low = byte();
    const std::size_t wanted = low | std::size_t{byte()} << 8;
    const std::size_t size = wanted < rest_.size() ? wanted : rest_.size();
    std::string taken(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(size));
    rest_ = rest_.subspan(size);
    return taken;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

// The encoding that Pieces::piece() reads.
inline std::string as_piece(const std::string& text) {
  return std::string{static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)} +
         text;
}

}  // namespace kiln::testing
