// write_ninja: a plan as a Ninja file, so that Ninja, or whatever reads its files, runs the steps.
//
// Each step becomes an edge that runs `kiln step` round the step's own command: it puts output, log
// and dependency list in place as `kiln build` does, and looks at nothing else. The last edge runs
// `kiln assemble`, the first one makes the file itself again when what it was made of changes.
//
//   rule kiln_step       command = kiln step ... -- <command>, restat
//   rule kiln_compile    the same with a depfile
//   build <output> | <log>: kiln_step <inputs> | <tools>
//   build <out>/.kiln/tools/<n>: phony <files that decide what a tool makes>
//
// Source: The Ninja build system, sections Ninja file reference and Depfile
// (ninja-build.org/manual).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

inline constexpr std::string_view kNinjaFileStart = "# made by 'kiln plan --ninja'\n";

// What the plan does not say of a step.
struct NinjaStep {
  std::string log;  // with {out}
  std::vector<std::pair<std::string, std::string>>
      environment;                 // the user's variables for its tool
  std::vector<std::string> named;  // files that its options name, absolute
};

struct NinjaRequest {
  const Plan& plan;
  const Toolchain& toolchain;
  std::filesystem::path
      folder;                  // where Ninja runs, absolute: names of what lies below are relative
  std::filesystem::path file;  // the Ninja file, absolute
  std::filesystem::path program;   // kiln, absolute
  std::vector<std::string> asked;  // the words that follow `kiln plan`: manifest and selection
  std::vector<std::filesystem::path> read;  // manifest and abi files, absolute
  std::vector<std::string>
      written;                   // by `kiln assemble`, below the out folder; the first is kiln.json
  std::vector<NinjaStep> steps;  // by plan position
};

// The error (kInvalidInput) names a path or a word that a Ninja file cannot hold.
Result<std::string> write_ninja(const NinjaRequest& request);

}  // namespace kiln::tools
