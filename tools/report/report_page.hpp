// The HTML page of `kiln report`, with a placeholder for the data.
#pragma once

#include <string_view>

namespace kiln::tools {

std::string_view report_page();
inline constexpr std::string_view kReportPlace = "@kiln report@";

}  // namespace kiln::tools
