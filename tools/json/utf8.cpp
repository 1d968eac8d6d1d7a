#include "tools/json/utf8.hpp"

namespace kiln::tools {

// Source: The Unicode Standard 15.0, table 3-7, Well-Formed UTF-8 Byte Sequences.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_short = first == 0xE0 && second < 0xA0;
    const bool is_surrogate = first == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !is_short && !is_surrogate ? 3 : 0;
  }
  const bool is_outside = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  if (first < 0xF0 || first > 0xF4 || is_outside) return 0;
  return follows(1) && follows(2) && follows(3) ? 4 : 0;
}

void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code_point < 0x80) return byte(code_point);
  if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      byte(0xE0 | code_point >> 12);
    } else {
      byte(0xF0 | code_point >> 18);
      byte(0x80 | (code_point >> 12 & 0x3F));
    }
    byte(0x80 | (code_point >> 6 & 0x3F));
  }
  byte(0x80 | (code_point & 0x3F));
}

}  // namespace kiln::tools
