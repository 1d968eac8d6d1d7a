// kiln report: writes an HTML page about a build that needs no network.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct ReportOptions {
  std::filesystem::path folder = "out";        // the out folder of a build
  std::filesystem::path page = "report.html";  // written
  std::filesystem::path trace;                 // a trace of the build; empty: the one in the folder
};

Result<int> run_report(const ReportOptions& options, World& world);

}  // namespace kiln::tools
