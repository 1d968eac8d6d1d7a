// The output of `kiln build`: text for people, or with --json an event per line for programs, the
// last of which is "done".
#pragma once

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/engine/assess.hpp"
#include "tools/engine/execute.hpp"
#include "tools/engine/finish.hpp"
#include "tools/model/manifest.hpp"
#include "tools/model/plan.hpp"

namespace kiln::tools {

enum class OutputFormat : bool { kText, kJson };

// Result of a build that got as far as its steps.
struct BuildOutcome {
  std::string emitted;                       // result of spell_emitted()
  std::string header_below_out;              // relative to the out folder
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  Execution execution = {};
  Finished finished = {};          // empty if there are errors
  std::vector<Error> errors = {};  // errors of steps, of the catalog, and of the lock file
};

// Lists the emitted files: "out/include/kernels.hpp, kernels.h, kernels.kiln".
std::string spell_emitted(const std::filesystem::path& out, const EmbedOptions& embed);

// Prints the output of --dry-run: the steps that would run, with reasons, and the steps that might.
void print_stale_steps(const std::vector<Assessment>& assessments, const Plan& plan,
                       const std::filesystem::path& out_folder, OutputFormat format, std::ostream& out);

// `error` combines outcome.errors; null if there are none.
void print_outcome(const BuildOutcome& outcome, const Error* error, std::uint64_t milliseconds,
                   OutputFormat format, std::ostream& out);

// For a build that did not get as far as its steps or was interrupted. In text form, main.cpp
// prints the error.
void print_refusal(const Error& error, OutputFormat format, std::ostream& out);

// Prints remarks to standard error: removed files, and facts about the sources that users should
// know.
void print_remarks(const Finished& finished, const std::filesystem::path& out_folder, std::ostream& err);

}  // namespace kiln::tools
