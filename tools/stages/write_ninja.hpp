// write_ninja: writes a plan as a Ninja file, so that Ninja or a compatible program runs the steps.
//
// Each step becomes an edge that runs `kiln step` around the step's own command. It puts the
// output, log and dependency list in place as `kiln build` does, and checks nothing else. The last
// edge runs `kiln assemble`. The first edge rewrites the Ninja file when its inputs change.
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

// The properties of a step that are not in the plan.
struct NinjaStep {
  std::string log;  // begins with {out}
  std::vector<std::pair<std::string, std::string>>
      environment;                 // the user's variables for the step's tool
  std::vector<std::string> named;  // absolute paths of files that its options name
};

struct NinjaRequest {
  const Plan& plan;
  const Toolchain& toolchain;
  std::filesystem::path folder;  // where Ninja runs, absolute; names of files below it are relative
  std::filesystem::path file;    // the Ninja file, absolute
  std::filesystem::path program;            // kiln, absolute
  std::vector<std::string> asked;           // words after `kiln plan`: manifest and selection
  std::vector<std::filesystem::path> read;  // manifest and abi files, absolute
  std::vector<std::string> written;  // by `kiln assemble`, below the out folder; kiln.json first
  std::vector<NinjaStep> steps;      // by plan position
};

// The error (kInvalidInput) names a path or a word that a Ninja file cannot hold.
Result<std::string> write_ninja(const NinjaRequest& request);

}  // namespace kiln::tools
