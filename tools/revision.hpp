// The source revision that this program was built from, according to version control at build time.
#pragma once

#include <string_view>

namespace kiln::tools {

std::string_view source_revision();  // "1a2b3c4d5e6f", "1a2b3c4d5e6f-modified", or "unknown"

}  // namespace kiln::tools
