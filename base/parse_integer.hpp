// Parses a text that is one integer and nothing else.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace kiln {

// Returns nothing if the text has other characters, such as a sign of an unsigned number, or if the
// number does not fit.
template <typename Integer>
std::optional<Integer> parse_integer(std::string_view text, int base = 10) {
  Integer number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace kiln
