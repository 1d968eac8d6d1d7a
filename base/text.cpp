#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Keywords and alternative tokens of C++20, sorted.
constexpr std::array<std::string_view, 92> kKeywords = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
    "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != parts.data()) text += separator;
    text += part;
  }
  return text;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); })) {
    return false;
  }
  return !std::binary_search(kKeywords.begin(), kKeywords.end(), text);
}

namespace {

// Keeps the characters for which `stays` is true. Writes other control characters and directing
// marks as \xNN, including those beyond ASCII (U+0080 to U+009F, two bytes in UTF-8).
template <typename Stays>
std::string escape_control(std::string_view text, Stays stays) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string escaped;
  const auto append = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    escaped += "\\x";
    escaped += kDigits[byte >> 4];
    escaped += kDigits[byte & 15];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      append(text[i]);
      append(text[++i]);
    } else if (const std::size_t mark = directing_mark(text.substr(i)); mark != 0) {
      for (const std::size_t end = i + mark; i < end; ++i) append(text[i]);
      --i;
    } else if ((byte < 0x20 || byte == 0x7f) && !stays(text[i])) {
      append(text[i]);
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

}  // namespace

std::size_t directing_mark(std::string_view text) {
  if (text.starts_with("\xd8\x9c")) return 2;
  if (text.size() < 3 || text[0] != '\xe2') return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  const bool is_one = text[1] == '\x80'   ? last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae)
                      : text[1] == '\x81' ? last >= 0xa6 && last <= 0xa9
                                          : false;
  return is_one ? 3 : 0;
}

std::string printable(std::string_view text) {
  return escape_control(text, [](char c) { return c == '\n' || c == '\t'; });
}

std::string printable_line(std::string_view text) {
  return escape_control(text, [](char) { return false; });
}

std::string quote(std::string_view text) { return "'" + printable_line(text) + "'"; }

std::string shell_quote(std::string_view word) {
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string shell_line(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += shell_quote(word);
  }
  return line;
}

}  // namespace kiln
