// rewrites: identifies the code that changes what tools wrote, as a part of cache keys. Each text
// is a digest of the sources of that code, so that no change of the code can miss the keys.
#pragma once

#include <string_view>

namespace kiln::tools {

std::string_view hip_rewrite();  // of converted sources: include_hip(), add_line_directive()
std::string_view ptx_rewrite();  // of PTX: shorten_ptx()

}  // namespace kiln::tools
