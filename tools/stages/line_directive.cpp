#include "tools/stages/line_directive.hpp"

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

std::string add_line_directive(std::string converted, std::string_view original,
                               std::string_view path) {
  const std::ptrdiff_t added = count_lines(converted) - count_lines(original);
  const bool starts_with_include = converted.starts_with("#include ");
  const std::size_t second_line = starts_with_include ? converted.find('\n') + 1 : 0;
  // Compilers accept a byte order mark only at the start of a file.
  if (original.starts_with(kByteOrderMark)) {
    const std::size_t mark = converted.starts_with(kByteOrderMark) ? 0 : second_line;
    if (converted.compare(mark, kByteOrderMark.size(), kByteOrderMark) == 0) {
      converted.erase(mark, kByteOrderMark.size());
    }
  }
  const bool is_include_added = added == 1 && starts_with_include;
  if (added != 0 && !is_include_added) return converted;
  // offset of the original's first line
  const std::size_t first = is_include_added ? second_line : 0;
  return converted.insert(first, "#line 1 " + string_literal(path) + "\n");
}

}  // namespace kiln::tools
