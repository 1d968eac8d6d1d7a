#include "tools/stages/nvcc_define.hpp"

#include <algorithm>

namespace kiln::tools {
namespace {

struct Spelling {
  char letter;
  std::string_view nvcc;
};
constexpr Spelling kSpellings[] = {
    {',', "\\,"}, {'"', "\\\""}, {'\\', "\\\\\\\\"}, {'$', "\\\\$"}, {'`', "\\\\`"},
};

// True if the define needs no escapes. Quotes in pairs need none.
bool is_plain(std::string_view define) {
  return define.find_first_of(",\\$`") == std::string_view::npos && std::ranges::count(define, '"') % 2 == 0;
}

}  // namespace

std::string nvcc_define(std::string_view define) {
  if (is_plain(define)) return std::string(define);
  std::string word;
  for (const char c : define) {
    const auto special = std::ranges::find(kSpellings, c, &Spelling::letter);
    if (special == std::end(kSpellings)) {
      word += c;
    } else {
      word += special->nvcc;
    }
  }
  return word;
}

std::string define_of_nvcc(std::string_view word) {
  std::string define;
  while (!word.empty()) {
    const auto special = std::ranges::find_if(
        kSpellings, [&](const Spelling& spelling) { return word.starts_with(spelling.nvcc); });
    if (special == std::end(kSpellings)) {
      define += word.front();
      word.remove_prefix(1);
    } else {
      define += special->letter;
      word.remove_prefix(special->nvcc.size());
    }
  }
  return define;
}

}  // namespace kiln::tools
