// The commands that print texts about the command line itself.
#include <utility>

#include "tools/cli/program.hpp"
#include "tools/cli/texts.hpp"

namespace kiln::tools {
namespace {

constexpr Words<Shell, 3> kShellWords = {{{"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}}};

CommandText text_of(const CLI::App& command) {
  CommandText text{command.get_name(), command.get_description(), {}, {}, command.get_footer()};
  for (const CLI::Option* option : command.get_options()) {
    OptionText entry{{},
                     option->get_type_name(),
                     option->get_description(),
                     option->get_required(),
                     option->get_items_expected_max() > 1};
    if (option->get_items_expected_max() == 0) entry.joined_value = std::exchange(entry.value, {});
    if (option->get_positional()) {
      entry.names.push_back(option->get_name(true));
      if (entry.value.find('|') == std::string::npos) entry.value.clear();
      text.positionals.push_back(std::move(entry));
      continue;
    }
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    text.options.push_back(std::move(entry));
  }
  return text;
}

std::vector<CommandText> command_texts(const CLI::App& app) {
  std::vector<CommandText> texts;
  for (const CLI::App* command : app.get_subcommands({})) texts.push_back(text_of(*command));
  return texts;
}

// Returns the command of this name, or the program itself if the name is empty.
Result<const CLI::App*> find_command(const Program& program, const std::string& name) {
  if (name.empty()) return &program.app;
  for (const CLI::App* command : program.app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return unknown_command(name, program.names());
}

}  // namespace

Subcommand declare_help(Program& program) {
  CLI::App& command = *program.app.add_subcommand("help", "Explain a command");
  const auto asked = std::make_shared<std::string>();
  command.add_option("COMMAND", *asked, "Which one; without it, all are listed");
  return {"help", [asked]() -> Result<Invocation> {
            const Program fresh;  // a parsed program prints the help of what was parsed
            KILN_TRY_ASSIGN(const CLI::App* const about, find_command(fresh, *asked));
            return Invocation(Reply{about->help(about == &fresh.app ? "" : "kiln")});
          }};
}

Subcommand declare_completions(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "completions", "Print what lets a shell complete kiln's command line");
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish")->type_name(help_of(kShellWords))->required();
  command.footer("Example:\n  kiln completions bash > ~/.local/share/bash-completion/completions/kiln");
  return {"completions", [shell, &app = program.app]() -> Result<Invocation> {
            KILN_TRY_ASSIGN(const Shell chosen, choice("the shell", *shell, kShellWords));
            return Invocation(Reply{completions(chosen, command_texts(app))});
          }};
}

Subcommand declare_man(Program& program) {
  CLI::App& command = *program.app.add_subcommand("man", "Print a manual page");
  const auto asked = std::make_shared<std::string>();
  command.add_option("COMMAND", *asked, "Of which command; without it, kiln's own");
  command.footer("Example:\n  kiln man build | man -l -");
  return {"man", [asked, &program]() -> Result<Invocation> {
            KILN_TRY_ASSIGN(const CLI::App* const about, find_command(program, *asked));
            const std::string version(split(program_version(), ' ').at(1));
            return Invocation(
                Reply{about == &program.app
                          ? man_page(text_of(program.app), command_texts(program.app), version)
                          : man_page(text_of(*about), version)});
          }};
}

}  // namespace kiln::tools
