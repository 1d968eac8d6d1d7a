// Reads the fields of a document that kiln itself wrote. A field that is missing or of another kind
// counts as empty.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/json/json.hpp"

namespace kiln::tools {

std::string text_of(const Json& object, std::string_view key);
std::optional<std::int64_t> integer_of(const Json& object, std::string_view key);
bool boolean_of(const Json& object, std::string_view key);
const Json::Array& array_of(const Json& object, std::string_view key);
const Json::Object& object_of(const Json& object, std::string_view key);

// Returns the texts in a list and skips other values.
std::vector<std::string> texts_of(const Json::Array& list);

Json::Array strings(const std::vector<std::string>& texts);

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names,
                                    std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

}  // namespace kiln::tools
