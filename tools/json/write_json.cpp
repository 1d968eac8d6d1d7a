#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/json/utf8.hpp"

namespace kiln::tools {
namespace {

class Writer {
 public:
  explicit Writer(JsonLayout layout) : is_indented_(layout == JsonLayout::kIndented) {}

  void write(const Json& json) {
    std::visit([this](const auto& value) { put(value); }, json.value);
  }
  std::string finish() && {
    if (is_indented_) text_ += '\n';
    return std::move(text_);
  }

 private:
  void put(std::monostate) { text_ += "null"; }
  void put(bool value) { text_ += value ? "true" : "false"; }
  void put(std::int64_t value) { text_ += std::to_string(value); }

  // Writes the fewest digits that give the same number again. JSON has no infinities and no NaN.
  void put(double value) {
    if (!std::isfinite(value)) return put(std::monostate());
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    const std::string_view number(digits, static_cast<std::size_t>(end - digits));
    text_ += number;
    if (number.find_first_of(".e") == std::string_view::npos) text_ += ".0";
  }

  void put(const std::string& value) {
    text_ += '"';
    for (std::string_view rest = value; !rest.empty();) {
      const auto plain = static_cast<std::size_t>(
          std::find_if_not(rest.begin(), rest.end(), is_plain) - rest.begin());
      text_ += rest.substr(0, plain);
      rest.remove_prefix(plain);
      if (rest.empty()) break;
      const std::size_t length = utf8_length(rest);
      if (length == 0) {
        append_utf8(text_, 0xFFFD);
      } else if (length == 1) {
        put_character(rest[0]);
      } else if (directing_mark(rest) != 0) {
        put_escaped(rest.substr(0, length));
      } else {
        text_ += rest.substr(0, length);
      }
      rest.remove_prefix(length == 0 ? 1 : length);
    }
    text_ += '"';
  }

  static bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

  // Escapes a character of two or three bytes.
  void put_escaped(std::string_view character) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1fu : 0x0fu);
    for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
    text_ += "\\u";
    for (const int shift : {12, 8, 4, 0}) text_ += kDigits[code >> shift & 15];
  }

  void put_character(char c) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
      text_ += '\\';
      text_ += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += "\\u00";
      text_ += kDigits[static_cast<std::size_t>(c) >> 4];
      text_ += kDigits[static_cast<std::size_t>(c) & 15];
    } else {
      text_ += c;
    }
  }

  void put(const Json::Array& items) {
    put_all('[', items, ']', [this](const Json& item) { write(item); });
  }
  void put(const Json::Object& members) {
    put_all('{', members, '}', [this](const JsonMember& member) {
      put(member.key);
      text_ += is_indented_ ? ": " : ":";
      write(member.value);
    });
  }

  template <typename Elements, typename Put>
  void put_all(char open, const Elements& elements, char close, Put put_one) {
    text_ += open;
    ++depth_;
    for (const auto& element : elements) {
      if (&element != elements.data()) text_ += ',';
      start_line();
      put_one(element);
    }
    --depth_;
    if (!elements.empty()) start_line();
    text_ += close;
  }
  void start_line() {
    if (!is_indented_) return;
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }

  bool is_indented_;
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace

std::string write_json(const Json& value, JsonLayout layout) {
  Writer writer(layout);
  writer.write(value);
  return std::move(writer).finish();
}

}  // namespace kiln::tools
