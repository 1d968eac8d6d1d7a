#include "generator/literal.hpp"

#include <cstddef>
#include <limits>

namespace kiln::generator {
namespace {

constexpr std::size_t kColumns = 100;

bool is_octal_digit(unsigned char byte) { return byte >= '0' && byte <= '7'; }

// '?' is escaped so that no trigraph can arise.
bool stays(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?';
}

void append_escape(std::string& out, unsigned char byte, bool digit_follows) {
  out += '\\';
  if (digit_follows || byte >= 0100) out += static_cast<char>('0' + (byte >> 6));
  if (digit_follows || byte >= 010) out += static_cast<char>('0' + ((byte >> 3) & 7));
  out += static_cast<char>('0' + (byte & 7));
}

void append_pieces(std::string& out, std::string_view bytes, std::size_t indent,
                   std::size_t columns) {
  std::size_t line = out.size();
  out.append(indent, ' ');
  out += '"';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // The longest a byte gets is four columns; the closing quote and a separator come after it.
    if (out.size() - line + 6 > columns) {
      out += "\"\n";
      line = out.size();
      out.append(indent, ' ');
      out += '"';
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (stays(byte)) {
      out += static_cast<char>(byte);
    } else {
      const bool digit_follows =
          i + 1 < bytes.size() && is_octal_digit(static_cast<unsigned char>(bytes[i + 1]));
      append_escape(out, byte, digit_follows);
    }
  }
  out += '"';
}

}  // namespace

void append_literal(std::string& out, std::string_view bytes, int indent) {
  append_pieces(out, bytes, static_cast<std::size_t>(indent), kColumns);
}

std::string literal(std::string_view text) {
  std::string out;
  append_pieces(out, text, 0, std::numeric_limits<std::size_t>::max());
  return out;
}

}  // namespace kiln::generator
