#include "generator/literal.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace kiln::generator {
namespace {

constexpr std::size_t kColumns = 100;

constexpr bool is_octal_digit(unsigned char byte) { return byte >= '0' && byte <= '7'; }

// '?' is escaped to avoid trigraphs.
constexpr bool is_plain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?';
}

// The spelling of a byte, at most four columns.
struct Spelling {
  std::array<char, 4> text{};
  std::size_t size = 0;
};

constexpr Spelling spell(unsigned char byte, bool digit_follows) {
  Spelling spelling;
  const auto put = [&](int c) { spelling.text[spelling.size++] = static_cast<char>(c); };
  if (is_plain(byte)) {
    put(byte);
    return spelling;
  }
  put('\\');
  if (digit_follows || byte >= 0100) put('0' + (byte >> 6));
  if (digit_follows || byte >= 010) put('0' + ((byte >> 3) & 7));
  put('0' + (byte & 7));
  return spelling;
}

// Indexed by whether an octal digit follows, and by the byte.
constexpr auto kSpellings = [] {
  std::array<std::array<Spelling, 256>, 2> all{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (const bool follows : {false, true}) {
      all[follows][byte] = spell(static_cast<unsigned char>(byte), follows);
    }
  }
  return all;
}();

void append_string_literals(std::string& out, std::string_view bytes, std::size_t indent,
                            std::size_t columns) {
  constexpr std::size_t kBufferSize = 256;
  std::array<char, kBufferSize + sizeof(Spelling::text)> buffer;
  std::size_t size = 0;
  const auto flush = [&] {
    out.append(buffer.data(), size);
    size = 0;
  };
  const auto begin_line = [&] { out.append(indent, ' ').append("\""); };
  begin_line();
  std::size_t column = indent + 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // A byte takes at most four columns. The closing quote and a separator follow.
    if (column + 6 > columns) {
      flush();
      out.append("\"\n");
      begin_line();
      column = indent + 1;
    }
    const bool digit_follows =
        i + 1 < bytes.size() && is_octal_digit(static_cast<unsigned char>(bytes[i + 1]));
    const Spelling& spelling = kSpellings[digit_follows][static_cast<unsigned char>(bytes[i])];
    std::copy_n(spelling.text.data(), spelling.text.size(), buffer.data() + size);
    size += spelling.size;
    column += spelling.size;
    if (size >= kBufferSize) flush();
  }
  flush();
  out += '"';
}

}  // namespace

void append_literal(std::string& out, std::string_view bytes, int indent) {
  // Enough for compressed bytes; others may need the string to grow.
  out.reserve(out.size() + 3 * bytes.size() + 16);
  append_string_literals(out, bytes, static_cast<std::size_t>(indent), kColumns);
}

std::string literal(std::string_view text) {
  std::string out;
  append_string_literals(out, text, 0, std::numeric_limits<std::size_t>::max());
  return out;
}

}  // namespace kiln::generator
