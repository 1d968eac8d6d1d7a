// The program's commands. Each is declared once; the parser, --help, completions and man pages are
// made from the declaration.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "kiln/result.hpp"
#include "tools/cli/invocation.hpp"

namespace kiln::tools {

struct Subcommand {
  std::string name;
  // Makes the invocation after parsing. Holds the variables that CLI11 parsed into.
  std::function<Result<Invocation>()> finish;
};

struct Program {
  Program();

  CLI::App app;
  std::vector<Subcommand> commands;     // in the order of --help
  std::vector<std::string> tool_words;  // the words after --, the command line of another tool

  std::vector<std::string> names() const;

  // Returns the command that was parsed, or the program itself if there is none.
  const CLI::App& parsed() const;
};

// One function per command. Each declares the command's options to CLI11 and tells how they become
// an invocation.
Subcommand declare_assemble(Program& program);
Subcommand declare_build(Program& program);
Subcommand declare_cache(Program& program);
Subcommand declare_completions(Program& program);
Subcommand declare_diff(Program& program);
Subcommand declare_doctor(Program& program);
Subcommand declare_help(Program& program);
Subcommand declare_init(Program& program);
Subcommand declare_inspect(Program& program);
Subcommand declare_lock(Program& program);
Subcommand declare_man(Program& program);
Subcommand declare_merge(Program& program);
Subcommand declare_plan(Program& program);
Subcommand declare_report(Program& program);
Subcommand declare_run(Program& program);
Subcommand declare_step(Program& program);
Subcommand declare_strip(Program& program);
Subcommand declare_verify(Program& program);

std::string program_version();  // "kiln 1.2.3 (1a2b3c4d5e6f)\n"

Error usage_error(std::string message);
Error unknown_command(const std::string& command, const std::vector<std::string>& names);

// For commands whose options need only parsing.
template <typename Options>
Subcommand parsed_command(const CLI::App& command, std::shared_ptr<Options> options) {
  return {command.get_name(), [options = std::move(options)] { return Invocation(*options); }};
}

// Returns the choices of an option in --help: "array|asm|split".
template <typename List>
std::string help_of(const List& words) {
  return join(all_words(words), "|");
}

// Returns the meaning of `text` in `words`. `option` names the option in the error.
template <typename List>
Result<typename List::value_type::second_type> choice(const std::string& option, const std::string& text,
                                                      const List& words) {
  if (const auto value = value_of(words, text)) return *value;
  const std::vector<std::string> names = all_words(words);
  Error error = usage_error(option + " cannot be " + quote(text));
  const std::string near = nearest(text, names);
  if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
  return error.hint("it is one of " + join(names, ", "));
}

}  // namespace kiln::tools
