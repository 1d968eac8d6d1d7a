// tool_bounds: the tool versions that a manifest allows, and the check of the tools that were
// found.
//
//   "tools": {"nvcc": {"min": "12.4", "max": "13.0"}}
//
// Only as many numbers are compared as the bound has: "max": "13.0" allows 13.0.88.
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

// Parses the manifest's "tools".
std::vector<ToolBounds> parse_tool_bounds(JsonReader& reader, const Json& value);

// Returns the version that bounds are compared with. For "HIP 6.4.3, clang 19.0.0", it is HIP's
// "6.4.3".
std::string bounded_version(const Tool& tool);

// Returns a negative number if `version` is older than `bound`, and a positive one if it is newer.
// Compares as many numbers as `bound` has.
int compare_to_bound(std::string_view version, std::string_view bound);

// Returns the error that a tool of the target is older or newer than the manifest allows, located
// at the bound.
std::optional<Error> find_unwanted_version(const std::vector<ToolBounds>& allowed,
                                           const TargetId& target, const Toolchain& toolchain);

// Checks all targets of the manifest. The error (kUnavailable) holds all such errors.
Result<void> check_tool_versions(const std::vector<ToolBounds>& allowed, const Manifest& manifest,
                                 const Toolchain& toolchain);

}  // namespace kiln::tools
