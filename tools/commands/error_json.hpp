// Errors for programs: {"message", "file", "line", "column", "notes": [...], "hints": [...]}.
// Unknown parts of the place are omitted.
#pragma once

#include "kiln/result.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {

// Returns the error, followed by its `others`.
Json::Array errors_json(const Error& error);

}  // namespace kiln::tools
