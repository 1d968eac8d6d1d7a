#include "tools/json/json.hpp"

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace kiln::tools {
namespace {

struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_structure(char c) {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
}

// Follows the text as the parser takes it, and remembers where the last tokens began: nlohmann's
// events come right after a token was read, or one character later after a number.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return offset_ == text_.size(); }
  char peek() const { return text_[offset_]; }

  void advance() {
    const char c = text_[offset_++];
    if (in_string_) {
      step_in_string(c);
    } else if (is_structure(c)) {
      structure_ = here_;
      if (c == '{' || c == '[') opening_ = here_;
      before_last_ = last_;
      last_ = c;
      in_word_ = false;
    } else if (is_blank(c)) {
      in_word_ = false;
    } else if (c == '"' || !in_word_) {
      scalar_ = here_;
      in_string_ = c == '"';
      in_word_ = !in_string_;
      last_ = '\0';
    }
    if (c == '\n') {
      ++here_.line;
      here_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++here_.column;
    }
  }

  Position here() const { return here_; }            // of the next character
  Position scalar() const { return scalar_; }        // of the last string, number or word
  Position opening() const { return opening_; }      // of the last '{' or '['
  Position structure() const { return structure_; }  // of the last structural character
  // Whether the last two tokens were a comma and a closing bracket.
  bool closed_after_comma() const { return before_last_ == ',' && (last_ == '}' || last_ == ']'); }

 private:
  void step_in_string(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  Position here_, scalar_, opening_, structure_;
  bool in_string_ = false, escaped_ = false, in_word_ = false;
  char last_ = '\0', before_last_ = '\0';  // structural characters; NUL stands for a scalar
};

// What nlohmann's parser reads from: a view of a Cursor.
class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CursorIterator() = default;
  explicit CursorIterator(Cursor& cursor) : cursor_(&cursor) {}
  char operator*() const { return cursor_->peek(); }
  CursorIterator& operator++() {
    cursor_->advance();
    return *this;
  }
  CursorIterator operator++(int) {
    const CursorIterator old = *this;
    cursor_->advance();
    return old;
  }
  // Only ever compared with the end.
  bool operator==(const CursorIterator&) const { return cursor_ == nullptr || cursor_->at_end(); }
  bool operator!=(const CursorIterator& other) const { return !(*this == other); }

 private:
  Cursor* cursor_ = nullptr;
};

// Builds the value from the parser's events.
class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Builder(const Cursor& cursor, std::string_view file, std::size_t depth_limit)
      : cursor_(cursor), file_(file), depth_limit_(depth_limit) {}

  bool null() { return place(Json(), cursor_.scalar()); }
  bool boolean(bool value) { return place(Json(value), cursor_.scalar()); }
  bool number_integer(number_integer_t value) { return place(Json(value), cursor_.scalar()); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) {
      return place(Json(static_cast<double>(value)), cursor_.scalar());
    }
    return place(Json(static_cast<std::int64_t>(value)), cursor_.scalar());
  }
  bool number_float(number_float_t value, const string_t&) {
    return place(Json(value), cursor_.scalar());
  }
  bool string(string_t& value) { return place(Json(std::move(value)), cursor_.scalar()); }
  bool binary(binary_t&) { return false; }  // never in text
  bool start_object(std::size_t) { return open(Json(Json::Object())); }
  bool start_array(std::size_t) { return open(Json(Json::Array())); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    const Position where = cursor_.scalar();
    std::get<Json::Object>(open_.back().value)
        .push_back({std::move(name), Json(), where.line, where.column});
    return true;
  }

  bool parse_error(std::size_t, const std::string& last_token,
                   const nlohmann::json::exception& thrown) {
    const std::string complaint = plain_complaint(thrown.what());
    const bool at_end = complaint.find("end of input") != std::string::npos;
    const bool is_scalar = !last_token.empty() && !is_structure(last_token.back());
    const Position where = at_end      ? cursor_.here()
                           : is_scalar ? cursor_.scalar()
                                       : cursor_.structure();
    Error error = failure(where, "syntax error: " + complaint);
    if (cursor_.closed_after_comma()) error.hint("remove the comma before it");
    if (is_scalar && (last_token.back() == '/' || last_token.back() == '#')) {
      error.hint("JSON has no comments");
    }
    if (is_scalar && last_token.back() == '\'') {
      error.hint("JSON strings are written in double quotes");
    }
    error_ = std::move(error);
    return false;
  }

  Result<Json> finish() && {
    if (error_) return std::move(*error_);
    return std::move(root_);
  }

 private:
  // "...: syntax error while parsing object - unexpected '}'; expected string literal" without the
  // parser's name and its count of characters.
  static std::string plain_complaint(std::string_view text) {
    if (const std::size_t dash = text.find(" - "); dash != std::string_view::npos) {
      text.remove_prefix(dash + 3);
    } else if (const std::size_t colon = text.rfind(": "); colon != std::string_view::npos) {
      text.remove_prefix(colon + 2);
    }
    std::string plain(text);
    if (const std::size_t read = plain.find("; last read:"); read != std::string::npos) {
      const std::size_t expected = plain.find("; expected", read);
      plain.erase(read, expected == std::string::npos ? expected : expected - read);
    }
    // What the parser would take, in full.
    constexpr std::pair<std::string_view, std::string_view> kClearer[] = {
        {"expected '[', '{', or a literal", "expected a value"},
        {"expected string literal", "expected a key in double quotes"},
        {"expected '}'", "expected ',' or '}'"},
        {"expected ']'", "expected ',' or ']'"}};
    for (const auto& [parser, clear] : kClearer) {
      const std::size_t at = plain.rfind("; ");
      if (at != std::string::npos && std::string_view(plain).substr(at + 2) == parser) {
        plain.replace(at + 2, parser.size(), clear);
      }
    }
    return plain;
  }

  Error failure(Position where, std::string message) const {
    return Error{ErrorCode::kInvalidInput, std::move(message),
                 Location{std::string(file_), where.line, where.column}};
  }

  bool place(Json value, Position where) {
    value.line = where.line;
    value.column = where.column;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* items = std::get_if<Json::Array>(&open_.back().value)) {
      items->push_back(std::move(value));
    } else {
      std::get<Json::Object>(open_.back().value).back().value = std::move(value);
    }
    return true;
  }

  // A container is built apart and put into its parent once it is whole.
  bool open(Json container) {
    const Position where = cursor_.opening();
    if (open_.size() == depth_limit_) {
      error_ = failure(where, "more than " + std::to_string(depth_limit_) +
                                  " lists and objects inside one another");
      return false;
    }
    container.line = where.line;
    container.column = where.column;
    open_.push_back(std::move(container));
    return true;
  }

  bool close() {
    Json whole = std::move(open_.back());
    open_.pop_back();
    const Position where{whole.line, whole.column};
    return place(std::move(whole), where);
  }

  const Cursor& cursor_;
  std::string_view file_;
  std::size_t depth_limit_;
  std::vector<Json> open_;
  Json root_;
  std::optional<Error> error_;
};

nlohmann::ordered_json convert(const Json& json) {
  struct Convert {
    nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
    nlohmann::ordered_json operator()(bool boolean) const { return boolean; }
    nlohmann::ordered_json operator()(std::int64_t integer) const { return integer; }
    nlohmann::ordered_json operator()(double number) const { return number; }
    nlohmann::ordered_json operator()(const std::string& text) const { return text; }
    nlohmann::ordered_json operator()(const Json::Array& items) const {
      auto array = nlohmann::ordered_json::array();
      for (const Json& item : items) array.push_back(convert(item));
      return array;
    }
    nlohmann::ordered_json operator()(const Json::Object& members) const {
      auto object = nlohmann::ordered_json::object();
      for (const JsonMember& member : members) object[member.key] = convert(member.value);
      return object;
    }
  };
  return std::visit(Convert{}, json.value);
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const JsonMember& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view Json::kind_name() const {
  static constexpr std::string_view kNames[] = {"null",     "true or false", "a number", "a number",
                                                "a string", "a list",        "an object"};
  return kNames[value.index()];
}

Result<Json> read_json(std::string_view text, std::string_view file, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::kInvalidInput,
                 "too large: " + std::to_string(text.size()) + " bytes, at most " +
                     std::to_string(limits.bytes) + " are read",
                 Location{std::string(file)}};
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Cursor cursor(text);
  Builder builder(cursor, file, limits.depth);
  nlohmann::json::sax_parse(CursorIterator(cursor), CursorIterator(), &builder);
  return std::move(builder).finish();
}

std::string write_json(const Json& value, JsonLayout layout) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  if (layout == JsonLayout::kCompact) return convert(value).dump(-1, ' ', false, kReplace);
  return convert(value).dump(2, ' ', false, kReplace) + "\n";
}

}  // namespace kiln::tools
