// The words of an option with their values, as one list that parsers, help and writers share. A
// list is an array (or a span) of pairs of a word and a value.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

template <typename Value, std::size_t N>
using Words = std::array<std::pair<std::string_view, Value>, N>;

template <typename List>
std::optional<typename List::value_type::second_type> value_of(const List& words, std::string_view word) {
  for (const auto& [name, value] : words) {
    if (name == word) return value;
  }
  return std::nullopt;
}

// Returns the word of a value, which must be in the list.
template <typename List>
std::string word_of(const List& words, typename List::value_type::second_type value) {
  for (const auto& [name, meant] : words) {
    if (meant == value) return std::string(name);
  }
  return {};
}

template <typename List>
std::vector<std::string> all_words(const List& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) names.emplace_back(name);
  return names;
}

}  // namespace kiln
