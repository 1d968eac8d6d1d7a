// parse_targets: reads a list of targets in a manifest.
#pragma once

#include <vector>

#include "tools/json/json_reader.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// Returns the targets in their order. Errors, such as a repeated target, are reported to `reader`.
std::vector<Located<TargetId>> parse_targets(JsonReader& reader, const Json& value);

}  // namespace kiln::tools
