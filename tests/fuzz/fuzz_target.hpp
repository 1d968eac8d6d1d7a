// A fuzz target: a reader of bytes, and the files to start from. A file defines one like this:
//
//   FUZZ_TARGET(elf, data, size) { (void)read_elf({data, size}); }
//   FUZZ_SEEDS(elf) { return {make_elf()}; }
//
// driver.cpp runs the targets of its program as fast tests: it changes the seeds in the same way each
// time. With KILN_BUILD_FUZZERS (clang) they are also in a libFuzzer program (libfuzzer.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// `data` and `size` name the parameters of the body that follows.
#define FUZZ_TARGET(name, data, size)                                                    \
  namespace kiln::testing::fuzz_##name {                                                 \
    static void run(const std::uint8_t*, std::size_t);                                   \
    static std::vector<std::string> seeds();                                             \
    static const bool is_listed = (fuzz_targets().push_back({#name, run, seeds}), true); \
  }                                                                                      \
  void kiln::testing::fuzz_##name::run(const std::uint8_t* data, std::size_t size)
#define FUZZ_SEEDS(name) std::vector<std::string> kiln::testing::fuzz_##name::seeds()

namespace kiln::testing {

struct FuzzTarget {
  std::string_view name;
  void (*run)(const std::uint8_t* data, std::size_t size);
  std::vector<std::string> (*seeds)();
};

// The targets of this program.
inline std::vector<FuzzTarget>& fuzz_targets() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

// Returns nullptr, and says which there are, for a name that no target has.
inline const FuzzTarget* find_fuzz_target(std::string_view name) {
  for (const FuzzTarget& target : fuzz_targets()) {
    if (target.name == name) return &target;
  }
  std::fputs("no such target; there are:", stderr);
  for (const FuzzTarget& target : fuzz_targets()) std::fprintf(stderr, " %s", target.name.data());
  std::fputc('\n', stderr);
  return nullptr;
}

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
