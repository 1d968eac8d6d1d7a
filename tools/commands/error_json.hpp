// An error for programs: {"message", "file", "line", "column", "notes": [...], "hints": [...]}; what is not known
// of the place is left out.
#pragma once

#include "kiln/result.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {

// The error, and then its others.
Json::Array errors_json(const Error& error);

}  // namespace kiln::tools
