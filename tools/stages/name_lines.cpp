#include "tools/stages/name_lines.hpp"

#include <algorithm>

namespace kiln::tools {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::ptrdiff_t count_lines(std::string_view text) { return std::ranges::count(text, '\n'); }

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

}  // namespace

std::string name_lines(std::string converted, std::string_view original, std::string_view path) {
  const std::ptrdiff_t added = count_lines(converted) - count_lines(original);
  std::size_t first = 0;  // where the original's first line is
  if (added == 1 && converted.starts_with("#include ")) {
    first = converted.find('\n') + 1;
  } else if (added != 0) {
    return converted;
  }
  if (converted.compare(first, kByteOrderMark.size(), kByteOrderMark) == 0) {
    first += kByteOrderMark.size();
  }
  return converted.insert(first, "#line 1 " + string_literal(path) + "\n");
}

}  // namespace kiln::tools
