// Small text functions that the standard library lacks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);  // spaces, tabs, newlines at both ends
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string counted(std::size_t count, std::string_view noun);  // "1 step", "2 steps"
bool is_identifier(std::string_view text);     // of C++, and not a keyword
// Returns the size in bytes of the mark at the start of `text`, or 0. Marks are characters that
// change the direction of the following text or end a line (U+061C, U+200E, U+200F, U+2028 to
// U+202E, U+2066 to U+2069, in UTF-8).
std::size_t directing_mark(std::string_view text);
// Makes text safe for a terminal: control characters and those marks become \xNN, except newlines
// and tabs.
std::string printable(std::string_view text);
std::string quote(std::string_view text);  // 'text', with all control characters and marks as \xNN
std::string printable_line(std::string_view text);  // the same without the quotes
std::string shell_quote(std::string_view word);             // for display and compile_commands
std::string shell_line(std::span<const std::string> argv);  // "a 'b c' d"

}  // namespace kiln
