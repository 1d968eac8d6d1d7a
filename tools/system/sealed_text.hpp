// kiln's own text files, protected against truncation and change: the first line names the format,
// and the last line has the digest of everything before it. Any other file counts as missing, never
// as an error.
//
//   file  = name " " version "\n"  { line "\n" }  "end " sha256-of-all-above "\n"
//   value = text with "\" as "\\", newline as "\n" and tab as "\t"; fits on a line, between tabs
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/parse_integer.hpp"

namespace kiln::tools {

// Puts `lines` (each ends with a newline) between the first and the last line.
std::string seal(std::string_view name, unsigned version, std::string_view lines);

// Returns the lines, or nothing if the file is of another format or version, truncated or changed.
std::optional<std::string_view> unseal(std::string_view name, unsigned version,
                                       std::string_view file);

std::string escape_line(std::string_view text);
// appends the escaped text to a line
void append_escaped(std::string& line, std::string_view text);
std::string unescape_line(std::string_view text);

// Removes the text up to `separator` from the front of `rest` and returns it. Without a separator,
// takes everything.
std::string_view take_until(std::string_view& rest, char separator);
// Reads a number. Returns false if there is none or it does not fit.
template <typename Integer>
bool take_number(std::string_view& rest, Integer& value, char separator = ' ') {
  const std::optional<Integer> number = parse_integer<Integer>(take_until(rest, separator));
  if (number) value = *number;
  return number.has_value();
}

}  // namespace kiln::tools
