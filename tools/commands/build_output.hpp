// What `kiln build` prints of itself: for people, and with --json one event a line for programs, of which
// the last is "done".
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

// A build that came to its steps.
struct BuildOutcome {
  std::string emitted;                       // as spell_emitted() has it
  std::string header_below_out;              // relative to the out folder
  std::vector<std::string> missing_targets;  // left out by --allow-missing
  Execution execution = {};
  Finished finished = {};          // empty where there are errors
  std::vector<Error> errors = {};  // of steps, of the catalog, and of the lock file
};

// "out/include/kernels.hpp, kernels.h, kernels.kiln": what is emitted into the folder.
std::string spell_emitted(const std::filesystem::path& out, const EmbedOptions& embed);

// What --dry-run prints: the steps that would run and why, and those that might.
void print_stale_steps(const std::vector<Assessment>& assessments, const Plan& plan,
                       const std::filesystem::path& out_folder, OutputFormat format, std::ostream& out);

// `error` is that of outcome.errors; null: none.
void print_outcome(const BuildOutcome& outcome, const Error* error, std::uint64_t milliseconds,
                   OutputFormat format, std::ostream& out);

// Of a build that did not come to its steps, or was interrupted. For people main.cpp prints the error.
void print_refusal(const Error& error, OutputFormat format, std::ostream& out);

// Beside the results, on standard error: what was removed, and what to know of the sources.
void print_remarks(const Finished& finished, const std::filesystem::path& out_folder, std::ostream& err);

}  // namespace kiln::tools
