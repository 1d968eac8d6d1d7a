// The result of parsing a command line: the options of a command, or a text.
#pragma once

#include <string>
#include <variant>

#include "tools/commands/assemble.hpp"
#include "tools/commands/build.hpp"
#include "tools/commands/cache.hpp"
#include "tools/commands/complete.hpp"
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

// A text that is the whole answer to a command line: help, --version, completions and man pages.
struct Reply {
  std::string text;
};

using Invocation = std::variant<Reply, AssembleOptions, BuildOptions, CacheOptions, CompleteOptions,
                                DiffOptions, DoctorOptions, InitOptions, InspectOptions, LockOptions, MergeOptions,
                                PlanOptions, ReportOptions, RunOptions, StepOptions, StripOptions,
                                VerifyOptions>;

}  // namespace kiln::tools
