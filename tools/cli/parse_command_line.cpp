#include "tools/cli/parse_command_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tools/cli/program.hpp"

namespace kiln::tools {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Ignores dashes, which all options have.
std::string nearest_option(std::string_view argument, std::vector<std::string> names) {
  const auto bare = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  argument = bare(argument.substr(0, argument.find('=')));
  for (std::string& name : names) name = bare(name);
  const std::string near = nearest(argument, names);
  return near.empty() ? near : "--" + near;
}

Error unknown_argument(const std::string& argument, const CLI::App& command) {
  const bool is_option = argument.starts_with("-");
  Error error = usage_error((is_option ? "unknown option " : "unexpected argument ") +
                            quote(argument) + " of 'kiln " + command.get_name() + "'");
  const std::string near = nearest_option(argument, option_names(command));
  if (is_option && !near.empty()) error.hint("did you mean " + quote(near) + "?");
  // The runtime's name for this option.
  const std::string name = argument.substr(0, argument.find('='));
  if (command.get_name() == "run" && (name == "--shared_bytes" || name == "--shared-bytes")) {
    error.hint("did you mean '--lds'?");
  }
  const bool is_target = argument.starts_with("gfx") || argument.starts_with("sm_") || argument.starts_with("compute_");
  if (is_target && command.get_option_no_throw("--target") != nullptr) {
    error.hint("did you mean '--target " + argument + "'?");
  }
  return error.hint("see 'kiln " + command.get_name() + " --help'");
}

// Translates CLI11's messages into kiln's wording.
Error translated(const CLI::ParseError& thrown, const CLI::App& command) {
  std::string message = thrown.what();
  const std::size_t colon = message.find(':'), equals = message.find(" = ");
  if (thrown.get_name() == "ArgumentMismatch") {
    const bool is_too_many = message.find("At Most") != std::string::npos;
    message = message.substr(0, colon) + (is_too_many ? " is given twice" : " needs a value");
  } else if (thrown.get_name() == "ConversionError" && colon < equals && equals != std::string::npos) {
    message = message.substr(colon + 2, equals - colon - 2) + " cannot be " + quote(message.substr(equals + 3));
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  if (!message.empty() && (message.size() < 2 || !std::isupper(static_cast<unsigned char>(message[1])))) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  const std::string name = command.get_name() == "kiln" ? "kiln" : "kiln " + command.get_name();
  return usage_error(std::move(message)).hint("see '" + name + " --help'");
}

// Checks that the first argument is a command or an option of the program itself.
Result<void> check_first(const std::string& first, const std::vector<std::string>& commands) {
  if (first == "version" || first == "-v" || first == "-V") {
    return usage_error("unknown " + std::string(first == "version" ? "command " : "option ") + quote(first))
        .hint("did you mean '--version'?");
  }
  if (!first.starts_with("-")) {
    if (std::find(commands.begin(), commands.end(), first) != commands.end()) return {};
    return unknown_command(first, commands);
  }
  const std::vector<std::string> own_options = {"-h", "--help", "--version"};
  if (std::find(own_options.begin(), own_options.end(), first) != own_options.end()) return {};
  Error error = usage_error("unknown option " + quote(first) + " of 'kiln'");
  const std::string near = nearest(first, own_options);
  const std::string command = nearest(first.substr(std::min(first.find_first_not_of('-'), first.size())), commands);
  if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
  if (!command.empty()) error.hint("did you mean 'kiln " + command + "'?");
  return error.hint("a command comes first: see 'kiln help'");
}

// "sm_80,sm_90" -> "--target sm_80 --target sm_90"
std::string each_its_own(const std::string& option, std::string word) {
  std::ranges::replace(word, ',', ' ');
  std::string text;
  for (const std::string_view part : split(word, ' ')) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + option + " " + std::string(part);
  }
  return text;
}

// Refuses empty words, which come from unset shell variables and have no meaning for any option.
// Also refuses lists in options that may be repeated: each of their words is one value.
Result<void> check_words(const CLI::App& command) {
  if (command.get_name() == "step") return {};  // its words belong to another tool
  for (const CLI::Option* option : command.get_options()) {
    const bool is_repeated = !option->get_positional() &&
                             option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    for (const std::string& word : option->results()) {
      if (word.empty()) {
        return usage_error("'' was given for " + option->get_name())
            .hint("leave it out, or see whether a variable of the shell is set");
      }
      if (is_repeated && word.find_first_of(", ") != std::string::npos) {
        return usage_error(option->get_name() + " takes one word, not " + quote(word))
            .hint("repeat it: " + each_its_own(option->get_name(), word));
      }
    }
  }
  return {};
}

const CLI::App* subcommand_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// Joins a flag and its optional value if the value is a separate word: "--embed-source beside". Any
// other word, such as the manifest, stays the next argument.
void join_values(const CLI::App& command, std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    const CLI::Option* const option = command.get_option_no_throw(arguments[i]);
    if (option == nullptr || option->get_items_expected_max() != 0) continue;
    const std::string words = option->get_type_name();
    const std::string& next = arguments[i + 1];
    if (words.find('|') == std::string::npos || next.find_first_of("./") != std::string::npos) continue;
    if (nearest(next, split(words, '|')).empty()) continue;
    arguments[i] += "=" + next;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// Refuses an option of the command as another option's value: "--out --no-cache".
Result<void> check_values(const CLI::App& command, const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    const CLI::Option* const option = command.get_option_no_throw(arguments[i]);
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    const std::string& value = arguments[++i];
    if (!value.starts_with('-') || command.get_option_no_throw(value) == nullptr) continue;
    return usage_error(option->get_name() + " needs a value, and " + quote(value) + " is an option")
        .hint("write " + quote(option->get_name() + "=" + value) + " if it is the value");
  }
  return {};
}

// Parses "__complete WHAT COMMAND WORD...", where the words precede the one that the shell
// completes. Kernels are completed only after one positional word, the image. Otherwise the first
// positional word names the file.
Invocation parse_completion(const CLI::App& app, const std::vector<std::string>& arguments) {
  CompleteOptions options;
  if (arguments.size() < 3) return Reply{};
  options.kind = arguments[1];
  const CLI::App* const command = subcommand_of(app, arguments[2]);
  if (command == nullptr) return Reply{};
  std::vector<std::string> positionals;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-')) {
      positionals.push_back(arguments[i]);
      continue;
    }
    const CLI::Option* const option = command->get_option_no_throw(arguments[i]);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // its value
  }
  if (options.kind == "kernels" && positionals.size() != 1) return Reply{};
  if (!positionals.empty()) options.file = positionals.front();
  return options;
}

}  // namespace

Result<Invocation> parse_command_line(const std::vector<std::string>& arguments) {
  Program program;
  if (arguments.empty()) {
    return usage_error("no command given: expected one of " + join(program.names(), ", "))
        .hint("see 'kiln --help'");
  }
  if (arguments.front() == "__complete") return parse_completion(program.app, arguments);
  KILN_TRY(check_first(arguments.front(), program.names()));
  auto end = arguments.end();
  if (arguments.front() == "step") {
    end = std::find(arguments.begin(), arguments.end(), "--");
    if (end != arguments.end()) program.tool_words.assign(end + 1, arguments.end());
  }
  try {
    std::vector<std::string> words(arguments.begin(), end);
    if (const CLI::App* command = subcommand_of(program.app, words.front())) {
      join_values(*command, words);
      KILN_TRY(check_values(*command, words));
    }
    std::reverse(words.begin(), words.end());
    program.app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Invocation(Reply{program.app.help()});
  } catch (const CLI::CallForVersion&) {
    return Invocation(Reply{program_version()});
  } catch (const CLI::ParseError& error) {
    // Reports an unknown argument before a missing one, because it may be the missing one misspelt.
    const std::vector<std::string> extras = program.app.remaining(true);
    if (extras.empty()) return translated(error, program.parsed());
    return unknown_argument(extras.front(), program.parsed());
  }
  KILN_TRY(check_words(program.parsed()));
  const auto command = std::find_if(
      program.commands.begin(), program.commands.end(),
      [&](const Subcommand& candidate) { return candidate.name == program.parsed().get_name(); });
  return command->finish();
}

}  // namespace kiln::tools
