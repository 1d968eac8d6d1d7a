// Whole files, read and written.
#pragma once

#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::runtime {

// Errors: kEnvironment, with the path and the system's reason.
Result<std::string> read_file(const std::string& path);
Result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace kiln::runtime
