// UTF-8, the encoding of JSON texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::tools {

// Returns the size in bytes of the well-formed character at the start of `text`, or 0 if there is
// none.
std::size_t utf8_length(std::string_view text);

void append_utf8(std::string& text, std::uint32_t code_point);

}  // namespace kiln::tools
