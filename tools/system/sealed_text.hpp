// Text files of our own that may be cut short: a first line naming the format, and a last line with
// the digest of everything before it. Anything else is "not there", never an error.
//
//   file  = name " " version "\n"  { line "\n" }  "end " sha256-of-all-above "\n"
//   value = text with "\" as "\\", newline as "\n" and tab as "\t": it fits on a line, between tabs
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::tools {

// `lines` (each ended by a newline) between the first and the last line.
std::string seal(std::string_view name, unsigned version, std::string_view lines);

// The lines back; nothing when the file is of another format or version, cut short, or changed.
std::optional<std::string_view> unseal(std::string_view name, unsigned version,
                                       std::string_view file);

std::string escape_line(std::string_view text);
void append_escaped(std::string& line, std::string_view text);  // the same, at the end of a line
std::string unescape_line(std::string_view text);

// Takes the text up to `separator` off the front of `rest`; all of it when there is none.
std::string_view take_until(std::string_view& rest, char separator);
// The number that stands there. False where it is none, or does not fit.
template <typename Integer>
bool take_number(std::string_view& rest, Integer& value, char separator = ' ') {
  const std::string_view word = take_until(rest, separator);
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc() && end == word.data() + word.size();
}

}  // namespace kiln::tools
