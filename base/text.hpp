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
bool is_identifier(std::string_view text);     // of C++, and not a keyword of it
// What a terminal shows and does not obey: control characters as \xNN, but for newlines and tabs.
std::string printable(std::string_view text);
std::string quote(std::string_view text);  // 'text', all control characters as \xNN
std::string shell_quote(std::string_view word);             // for display and compile_commands
std::string shell_line(std::span<const std::string> argv);  // "a 'b c' d"

}  // namespace kiln
