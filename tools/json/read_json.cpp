#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/json/utf8.hpp"

namespace kiln::tools {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Parser {
 public:
  Parser(std::string_view text, std::string_view file, std::size_t depth_limit)
      : text_(text), file_(file), depth_limit_(depth_limit) {}

  Result<Json> parse() {
    Json json;
    if (value(json)) {
      skip_blanks();
      if (at_end()) return json;
      unexpected("the end of the text");
    }
    return *std::move(error_);
  }

 private:
  bool at_end() const { return offset_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[offset_]; }

  void advance() {
    const char c = text_[offset_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column_;
    }
  }
  bool take(char c) {
    if (at_end() || peek() != c) return false;
    advance();
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') advance();
  }

  bool fail(std::string message) {
    error_ = Error{ErrorCode::kInvalidInput, std::move(message),
                   Location{std::string(file_), line_, column_}};
    return false;
  }

  // Describes what stands at this place, for messages.
  std::string found() const {
    if (at_end()) return "end of the text";
    if (peek() == '"') return "string";
    if (peek() == '\'') return "single quote";
    std::size_t end = offset_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return quote(text_.substr(offset_, end == offset_ ? 1 : end - offset_));
  }

  bool unexpected(std::string_view expected) {
    fail("syntax error: unexpected " + found() + "; expected " + std::string(expected));
    if (peek() == '/' || peek() == '#') error_->hint("JSON has no comments");
    if (peek() == '\'') error_->hint("JSON strings are written in double quotes");
    const bool ends = at_end() || peek() == '}' || peek() == ']';
    if (ends && !open_.empty() && peek() != open_.back().closing) hint_open();
    return false;
  }

  void hint_open() {
    const Open& last = open_.back();
    error_->hint("the " + std::string(last.closing == '}' ? "object" : "list") +
                 " that begins at " + std::to_string(last.line) + ':' +
                 std::to_string(last.column) + " has no '" + last.closing + "'");
  }

  // True at a string that a colon follows.
  bool at_key() const {
    if (peek() != '"') return false;
    Parser ahead = *this;
    std::string ignored;
    if (!ahead.string(ignored)) return false;
    ahead.skip_blanks();
    return ahead.peek() == ':';
  }

  bool value(Json& json) {
    skip_blanks();
    json.line = line_;
    json.column = column_;
    switch (peek()) {
      case '{': return object(json);
      case '[': return array(json);
      case '"': return string(json.value.emplace<std::string>());
      default: break;
    }
    if (peek() == '-' || is_digit(peek())) return number(json);
    constexpr std::pair<std::string_view, int> kWords[] = {{"null", -1}, {"false", 0}, {"true", 1}};
    for (const auto& [word, meaning] : kWords) {
      const std::string_view rest = text_.substr(offset_);
      if (!rest.starts_with(word)) continue;
      const char after = rest.size() > word.size() ? rest[word.size()] : ' ';
      if (is_letter(after) || is_digit(after)) break;
      for (std::size_t i = 0; i < word.size(); ++i) advance();
      if (meaning >= 0) json.value = meaning == 1;
      return true;
    }
    return unexpected("a value");
  }

  // Takes the bracket that opens a list or an object.
  bool enter(char closing) {
    if (open_.size() == depth_limit_) {
      return fail("more than " + std::to_string(depth_limit_) +
                  " lists and objects inside one another");
    }
    open_.push_back({closing, line_, column_});
    advance();
    return true;
  }

  // Called after an element: tells whether another one follows. `closing` ends the container.
  enum class Next : std::uint8_t { kElement, kEnd, kError };
  Next next(char closing, std::string_view expected) {
    skip_blanks();
    if (take(closing)) {
      open_.pop_back();
      return Next::kEnd;
    }
    if (!take(',')) {
      const bool begins = peek() == '"' || peek() == '{' || peek() == '[' || is_digit(peek());
      unexpected(expected);
      if (closing == ']' && at_key()) {
        hint_open();
      } else if (begins) {
        error_->hint("add a comma before it");
      }
      return Next::kError;
    }
    skip_blanks();
    if (peek() != closing) return Next::kElement;
    unexpected(closing == '}' ? "a key in double quotes" : "a value");
    error_->hint("remove the comma before it");
    return Next::kError;
  }

  bool array(Json& json) {
    if (!enter(']')) return false;
    Json::Array& items = json.value.emplace<Json::Array>();
    skip_blanks();
    if (take(']')) return open_.pop_back(), true;
    while (true) {
      if (!value(items.emplace_back())) return false;
      const Next separator = next(']', "',' or ']'");
      if (separator != Next::kElement) return separator == Next::kEnd;
    }
  }

  bool object(Json& json) {
    if (!enter('}')) return false;
    Json::Object& members = json.value.emplace<Json::Object>();
    skip_blanks();
    if (take('}')) return open_.pop_back(), true;
    while (true) {
      JsonMember& member = members.emplace_back();
      member.line = line_;
      member.column = column_;
      if (peek() != '"') return unexpected("a key in double quotes");
      if (!string(member.key)) return false;
      skip_blanks();
      if (!take(':')) return unexpected("':'");
      if (!value(member.value)) return false;
      const Next separator = next('}', "',' or '}'");
      if (separator != Next::kElement) return separator == Next::kEnd;
      skip_blanks();
    }
  }

  bool string(std::string& text) {
    advance();
    while (!take('"')) {
      if (at_end()) return not_closed();
      take_plain(text);
      const char c = peek();
      if (at_end() || c == '"') continue;
      if (static_cast<unsigned char>(c) < 0x20) {
        return fail("syntax error: a string cannot hold a control character; write it as \\uXXXX");
      }
      if (c == '\\') {
        if (!escape(text)) return false;
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(offset_));
      if (length == 0) return fail("syntax error: the string is not UTF-8");
      text += text_.substr(offset_, length);
      for (std::size_t i = 0; i < length; ++i) advance();
    }
    return true;
  }

  bool not_closed() {
    while (!at_end()) advance();
    return fail("syntax error: the string has no closing '\"'");
  }

  // Takes the characters of a string that are plain ASCII and need no decoding: most strings have
  // no others.
  void take_plain(std::string& text) {
    std::size_t end = offset_;
    const auto is_plain = [](char c) { return c >= 0x20 && c <= 0x7E && c != '"' && c != '\\'; };
    while (end < text_.size() && is_plain(text_[end])) ++end;
    text += text_.substr(offset_, end - offset_);
    column_ += static_cast<std::uint32_t>(end - offset_);
    offset_ = end;
  }

  bool escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const auto refuse = [this, line = line_, column = column_] {
      if (text_.find('"', offset_) == std::string_view::npos) return not_closed();
      line_ = line;
      column_ = column;
      return fail("syntax error: the string has an escape that JSON does not know");
    };
    advance();
    if (const std::size_t at = kLetters.find(peek()); !at_end() && at != std::string_view::npos) {
      text += kMeanings[at];
      advance();
      return true;
    }
    std::optional<std::uint32_t> code = hexadecimal();
    if (!code) return refuse();
    if (*code >= 0xD800 && *code < 0xDC00) {  // the first of a pair
      const std::optional<std::uint32_t> second = take('\\') ? hexadecimal() : std::nullopt;
      if (!second || *second < 0xDC00 || *second >= 0xE000) return refuse();
      code = 0x10000 + ((*code - 0xD800) << 10) + (*second - 0xDC00);
    } else if (*code >= 0xDC00 && *code < 0xE000) {
      return refuse();
    }
    append_utf8(text, *code);
    return true;
  }

  // Reads the rest of an escape, such as "u00e4".
  std::optional<std::uint32_t> hexadecimal() {
    const std::string_view digits = text_.substr(offset_).substr(0, 5);
    std::uint32_t code = 0;
    if (digits.size() != 5 || digits[0] != 'u') return std::nullopt;
    const auto [end, error] = std::from_chars(digits.data() + 1, digits.data() + 5, code, 16);
    if (error != std::errc() || end != digits.data() + 5) return std::nullopt;
    for (std::size_t i = 0; i < digits.size(); ++i) advance();
    return code;
  }

  bool number(Json& json) {
    const std::string_view rest = text_.substr(offset_);
    std::size_t end = rest[0] == '-' ? 1 : 0;
    const auto digits = [&] {
      const std::size_t start = end;
      while (end < rest.size() && is_digit(rest[end])) ++end;
      return end != start;
    };
    bool is_integer = true, is_well_formed = end < rest.size() && is_digit(rest[end]);
    if (is_well_formed && rest[end] == '0') {
      ++end;
    } else {
      digits();
    }
    if (is_well_formed && end < rest.size() && rest[end] == '.') {
      is_integer = false;
      ++end;
      is_well_formed = digits();
    }
    if (is_well_formed && end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
      is_integer = false;
      ++end;
      if (end < rest.size() && (rest[end] == '+' || rest[end] == '-')) ++end;
      is_well_formed = digits();
    }
    if (!is_well_formed || (end < rest.size() && (is_letter(rest[end]) || is_digit(rest[end])))) {
      return fail("syntax error: not a number of JSON");
    }
    std::int64_t integer = 0;
    double number = 0;
    const char* const last = rest.data() + end;
    if (is_integer && std::from_chars(rest.data(), last, integer).ec == std::errc()) {
      json.value = integer;
    } else if (std::from_chars(rest.data(), last, number).ec == std::errc()) {
      json.value = number;
    } else {
      return fail("syntax error: the number is too large or too small for 64 bits");
    }
    for (std::size_t i = 0; i < end; ++i) advance();
    return true;
  }

  std::string_view text_, file_;
  std::size_t depth_limit_;
  std::size_t offset_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  // The lists and objects around this place, and what ends each.
  struct Open {
    char closing;
    std::uint32_t line, column;
  };
  std::vector<Open> open_;
  std::optional<Error> error_;
};

}  // namespace

Result<Json> read_json(std::string_view text, std::string_view file, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::kInvalidInput,
                 "too large: " + std::to_string(text.size()) + " bytes, at most " +
                     std::to_string(limits.bytes) + " are read",
                 Location{std::string(file)}};
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return Error{ErrorCode::kInvalidInput, "the text is UTF-16, and JSON is UTF-8",
                 Location{std::string(file)}}
        .hint("save it as UTF-8");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Parser(text, file, limits.depth).parse();
}

}  // namespace kiln::tools
