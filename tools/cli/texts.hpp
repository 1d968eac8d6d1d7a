// The command line as values, and the texts made from them: shell completions and man pages. They
// agree with --help, because both come from the commands' declarations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

struct OptionText {
  std::vector<std::string> names;  // "-j", "--jobs"; a positional word has one name: "MANIFEST"
  // "N", "array|asm"; empty if there is none, or only an optional value after '='
  std::string value;
  std::string description;
  bool is_required = false;
  bool is_repeated = false;
  std::string joined_value = {};   // optional value of a flag, after '=': "beside|instead|none"
};

struct CommandText {
  std::string name;
  std::string description;
  std::vector<OptionText> positionals, options;
  std::string footer;  // examples, one per line
};

// The exit status of the program, and the heading of that part of its help.
inline constexpr std::string_view kExitStatusTitle = "\n\nExit status:\n";
inline constexpr std::string_view kExitStatus =
    "0 done; 1 the build, or a check of what it made, failed; 2 the command line or the manifest is wrong;\n"
    "3 something that this machine lacks or refuses; 70 a bug of kiln; 128 + n ended by signal n";

enum class Shell { kBash, kZsh, kFish };
std::string completions(Shell shell, const std::vector<CommandText>& commands);

// These functions return the pages kiln-<command>(1) and kiln(1), which lists the commands.
std::string man_page(const CommandText& command, std::string_view version);
std::string man_page(const CommandText& program, const std::vector<CommandText>& commands,
                     std::string_view version);

}  // namespace kiln::tools
