// parse_limits: reads the limits that a manifest sets for a finished build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/json/json_reader.hpp"
#include "tools/model/limits.hpp"

namespace kiln::tools {

// "12.4" -> 12040
std::optional<std::uint32_t> parse_release(std::string_view text);
std::string spell_release(std::uint32_t version);

// Errors are reported to `reader`.
std::uint32_t parse_floor(JsonReader& reader, const Json& value, const std::string& what,
                          const std::string& how_to_write);
enum class BudgetsOf : bool { kModule, kManifest };
Budgets parse_budgets(JsonReader& reader, const Json& value, const std::string& what, BudgetsOf of);

}  // namespace kiln::tools
