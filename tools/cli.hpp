// The command line: arguments in, one command's options out. Prints nothing and runs nothing.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/assemble.hpp"
#include "tools/commands/build.hpp"
#include "tools/commands/cache.hpp"
#include "tools/commands/diff.hpp"
#include "tools/commands/doctor.hpp"
#include "tools/commands/init.hpp"
#include "tools/commands/inspect.hpp"
#include "tools/commands/lock.hpp"
#include "tools/commands/merge.hpp"
#include "tools/commands/plan.hpp"
#include "tools/commands/report.hpp"
#include "tools/commands/run.hpp"
#include "tools/commands/step.hpp"
#include "tools/commands/verify.hpp"

namespace kiln::tools {

// Text that answers the command line by itself: help, --version, completions and man pages.
struct Reply {
  std::string text;
};

using Invocation = std::variant<Reply, BuildOptions, PlanOptions, DoctorOptions, InitOptions, InspectOptions,
                                CacheOptions, RunOptions, MergeOptions, StripOptions, VerifyOptions, DiffOptions, ReportOptions,
                                StepOptions, AssembleOptions, LockOptions>;

// Reads the arguments that follow the program's name. The error (kInvalidInput) names the argument
// and the nearest valid one.
Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace kiln::tools
