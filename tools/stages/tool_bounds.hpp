// tool_bounds: which versions of the tools a manifest allows, and whether those that were found are.
//
//   "tools": {"nvcc": {"min": "12.4", "max": "13.0"}}
//
// A bound compares as many numbers as it has: "13.0" allows 13.0.88 as the greatest version.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/json/json_reader.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

// The value of the manifest's "tools".
std::vector<ToolBounds> parse_tool_bounds(JsonReader& reader, const Json& value);

// The numbers that bounds are compared with: of "HIP 6.4.3, clang 19.0.0" those of HIP, "6.4.3".
std::string bounded_version(const Tool& tool);

// Below 0 when `version` is older than `bound`, above 0 when newer, in as many numbers as `bound` has.
int compare_to_bound(std::string_view version, std::string_view bound);

// That a tool which some target needs is older or newer than the manifest allows; at the bound's place.
std::optional<Error> find_unwanted_version(const std::vector<ToolBounds>& allowed,
                                           const TargetId& target, const Toolchain& toolchain);

// All of them, of all targets of the manifest (kUnavailable).
Result<void> check_tool_versions(const std::vector<ToolBounds>& allowed, const Manifest& manifest,
                                 const Toolchain& toolchain);

}  // namespace kiln::tools
