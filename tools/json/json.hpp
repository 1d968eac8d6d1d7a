// JSON text (RFC 8259), read into values that know their place in the text, and written.
//
// Reading keeps the line and column of every value and key, counted in characters from 1. It also
// keeps duplicate keys, so that a format's reader can report them. Writing keeps the order of
// members.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::tools {

struct JsonMember;

struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value;
  std::uint32_t line = 0;  // of the value's first character; 0: not read from text
  std::uint32_t column = 0;

  // Defined below, where JsonMember is complete.
  Json();
  Json(bool boolean);
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Json(Integer integer);
  Json(double number);
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  Json(Array items);
  Json(Object members);

  // Returns the value if it is of that kind, and null otherwise.
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }
  // Returns the first member named `key` if this is an object that has one, and null otherwise.
  const Json* find(std::string_view key) const;
  // Returns "a list", "a string" and so on, for messages.
  std::string_view kind_name() const;
};

struct JsonMember {
  std::string key;
  Json value;
  std::uint32_t line = 0;  // of the key
  std::uint32_t column = 0;
};

inline Json::Json() = default;
inline Json::Json(bool boolean) : value(boolean) {}
template <std::integral Integer>
  requires(!std::same_as<Integer, bool>)
Json::Json(Integer integer) : value(static_cast<std::int64_t>(integer)) {}
inline Json::Json(double number) : value(number) {}
inline Json::Json(std::string text) : value(std::move(text)) {}
inline Json::Json(std::string_view text) : value(std::string(text)) {}
inline Json::Json(const char* text) : value(std::string(text)) {}
inline Json::Json(Array items) : value(std::move(items)) {}
inline Json::Json(Object members) : value(std::move(members)) {}

struct JsonLimits {
  std::size_t bytes = 8U << 20;
  std::size_t depth = 32;  // nesting of lists and objects
};

// Reads one value. `file` names the text in errors (kInvalidInput, with line and column).
Result<Json> read_json(std::string_view text, std::string_view file, const JsonLimits& limits = {});

enum class JsonLayout : bool { kCompact, kIndented };

// Returns UTF-8. Indented text ends with a newline. Bytes that are not UTF-8 become U+FFFD.
std::string write_json(const Json& value, JsonLayout layout = JsonLayout::kIndented);

}  // namespace kiln::tools
