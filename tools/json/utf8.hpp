// UTF-8, which JSON texts are written in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::tools {

// The bytes of the well-formed character that `text` starts with; 0 when it starts with none.
std::size_t utf8_length(std::string_view text);

void append_utf8(std::string& text, std::uint32_t code_point);

}  // namespace kiln::tools
