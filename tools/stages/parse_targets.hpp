// parse_targets: a list of targets of a manifest.
#pragma once

#include <vector>

#include "tools/json/json_reader.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// Each once, in their order; what is wrong is reported to `reader`.
std::vector<Located<TargetId>> parse_targets(JsonReader& reader, const Json& value);

}  // namespace kiln::tools
