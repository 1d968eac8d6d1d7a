#include "tools/cli/texts.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kiln::tools {
namespace {

// Returns the possible values of an option: "array|asm" -> array, asm.
std::vector<std::string> choices(const std::string& value) {
  std::vector<std::string> words;
  if (value.find('|') == std::string::npos) return words;
  for (const std::string_view word : split(value, '|')) words.emplace_back(word);
  const auto is_word = [](const std::string& word) {
    return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  };
  if (!std::ranges::all_of(words, is_word)) words.clear();
  return words;
}

bool is_path(const OptionText& option) { return option.value == "FILE" || option.value == "DIR"; }

// Returns the word to ask 'kiln __complete' for. Empty if files cannot provide completions.
std::string asked_for(const OptionText& option) {
  const std::string& kind = option.value.empty() ? option.names.front() : option.value;
  if (kind == "TARGET") return "targets";
  if (kind == "MODULE") return "modules";
  return kind == "KERNEL" ? "kernels" : "";
}

// The same for a command's positional words.
std::string asked_for(const CommandText& command) {
  for (const OptionText& positional : command.positionals) {
    if (const std::string what = asked_for(positional); !what.empty()) return what;
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> options_of(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// Escapes text for single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out;
}

// Bash splits words at ':' and '=', which occur in targets and options. The script joins the parts
// again and returns only the part of a reply after the last ':'.
constexpr std::string_view kBashStart = R"sh(# bash completion of kiln, made by 'kiln completions bash'
_kiln() {
  local word last= current before= words= options= asked= joined=
  local -a line=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#line[@]} -gt 0 && ( $word == [:=] || $last == [:=] ) ]]; then
      line[-1]+=$word
    else
      line+=("$word")
    fi
    last=$word
  done
  current=${line[-1]}
  unset 'line[-1]'
  COMPREPLY=()
  if [[ ${#line[@]} -eq 0 ]]; then
)sh";
constexpr std::string_view kBashEnd = R"sh(  esac
  if [[ -n $asked ]]; then
    while IFS= read -r word; do
      [[ $word != "$current"* ]] || COMPREPLY+=("$word")
    done < <("${COMP_WORDS[0]}" __complete "$asked" "${line[@]//\\}" 2>/dev/null)
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
      COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
    fi
    [[ ${#COMPREPLY[@]} -eq 0 && $asked == kernels ]] || return
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _kiln kiln
)sh";

std::string bash(const std::vector<CommandText>& commands) {
  std::string out(kBashStart);
  out += "    COMPREPLY=($(compgen -W '" + join(names_of(commands), " ") +
         " --help --version' -- \"$current\"))\n    return\n  fi\n"
         "  before=${line[-1]}\n"
         "  [[ $current != --*=* ]] || { joined=1 before=${current%%=*} current=${current#*=}; }\n"
         "  case ${line[0]} in\n";
  for (const CommandText& command : commands) {
    out += "    " + command.name + ")\n      options='" + join(options_of(command), " ") + "'\n";
    std::string inner;
    for (const OptionText& option : command.options) {
      const std::vector<std::string> words = choices(option.value);
      if (const auto joined_choices = choices(option.joined_value); !joined_choices.empty()) {
        inner += "        " + join(option.names, " | ") + ") [[ -z $joined ]] || words='" +
                 join(joined_choices, " ") + "' ;;\n";
      }
      if (option.value.empty() || is_path(option)) continue;
      const std::string asked = asked_for(option);
      inner += "        " + join(option.names, " | ") + ") " +
               (!asked.empty()  ? "asked=" + asked
                : words.empty() ? "return"
                                : "words='" + join(words, " ") + "'") +
               " ;;\n";
    }
    const std::string asked = asked_for(command);
    if (!asked.empty()) inner += "        *) [[ $current == -* ]] || asked=" + asked + " ;;\n";
    if (!inner.empty()) out += "      case $before in\n" + inner + "      esac\n";
    for (const OptionText& positional : command.positionals) {
      const std::vector<std::string> words = command.name == "help" || command.name == "man"
                                                 ? names_of(commands)
                                                 : choices(positional.value);
      if (!words.empty()) out += "      [[ ${#line[@]} -ne 1 ]] || words='" + join(words, " ") + "'\n";
    }
    out += "      ;;\n";
  }
  return out + std::string(kBashEnd);
}

std::string without(std::string text, std::string_view letters) {
  std::erase_if(text, [&](char c) { return letters.find(c) != std::string_view::npos; });
  return text;
}

std::string zsh(const std::vector<CommandText>& commands) {
  std::string out =
      "#compdef kiln\n# zsh completion of kiln, made by 'kiln completions zsh'\n"
      "_kiln_ask() {\n"
      "  local -a found=(${(f)\"$($words[1] __complete $1 ${(Q)words[2,CURRENT-1]} 2>/dev/null)\"})\n"
      "  (( $#found )) && compadd -a found\n"
      "}\n"
      "_kiln() {\n";
  out += "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const CommandText& command : commands) {
    out += "      '" + command.name + ":" + quoted(command.description) + "'\n";
  }
  out += "    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandText& command : commands) {
    out += "    " + command.name + ") _arguments";
    for (const OptionText& option : command.options) {
      const std::vector<std::string> words = choices(option.value);
      for (const std::string& name : option.names) {
        out += " \\\n      '*" + name + "[" + quoted(without(option.description, "[]:")) + "]";
        if (!option.value.empty()) {
          out += ":" + (words.empty() ? without(option.value, "[],") : "one of these") + ":";
          if (is_path(option)) out += "_files";
          if (const std::string asked = asked_for(option); !asked.empty()) out += " _kiln_ask " + asked;
          if (!words.empty()) out += "(" + join(words, " ") + ")";
        }
        out += "'";
      }
    }
    const std::string asked = asked_for(command);
    out += asked.empty() ? " \\\n      '*:file:_files' ;;\n"
                         : " \\\n      '*:file:{ _kiln_ask " + asked + " || _files }' ;;\n";
  }
  return out + "  esac\n}\n_kiln \"$@\"\n";
}

std::string fish(const std::vector<CommandText>& commands) {
  std::string out =
      "# fish completion of kiln, made by 'kiln completions fish'\n"
      "function __kiln_ask\n"
      "  set -l line (commandline -opc)\n"
      "  command $line[1] __complete $argv[1] $line[2..-1] 2>/dev/null\n"
      "end\n";
  for (const CommandText& command : commands) {
    out += "complete -c kiln -n __fish_use_subcommand -f -a " + command.name + " -d '" +
           quoted(command.description) + "'\n";
  }
  for (const CommandText& command : commands) {
    for (const OptionText& option : command.options) {
      out += "complete -c kiln -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const std::vector<std::string> words = choices(option.value);
      if (!option.value.empty()) out += is_path(option) ? " -r" : " -x";
      const std::string asked = asked_for(option);
      if (!asked.empty()) out += " -a '(__kiln_ask " + asked + ")'";
      if (!words.empty()) out += " -a '" + join(words, " ") + "'";
      out += " -d '" + quoted(option.description) + "'\n";
    }
    if (const std::string asked = asked_for(command); !asked.empty()) {
      out += "complete -c kiln -n '__fish_seen_subcommand_from " + command.name + "' -a '(__kiln_ask " + asked + ")'\n";
    }
  }
  return out;
}

// Escapes text for a man page, so that roff does not interpret it.
std::string roff(std::string_view text) {
  std::string out;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    starts_line = c == '\n';
  }
  return out;
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return text;
}

std::string head(const std::string& page, const std::string& description,
                 std::string_view version) {
  return ".TH " + upper_case(page) + " 1 \"\" \"kiln " + std::string(version) +
         "\" \"kiln\"\n.SH NAME\n" + page + " \\- " + roff(description) + "\n.SH SYNOPSIS\n";
}

std::string options(const std::vector<OptionText>& all) {
  std::string out;
  for (const OptionText& option : all) {
    out += ".TP\n.B " + roff(join(option.names, ", "));
    if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
    out += "\n" + roff(option.description) + "\n";
  }
  return out;
}

std::string examples(const std::string& footer) {
  return footer.empty() ? "" : ".SH NOTES\n.nf\n" + roff(footer) + "\n.fi\n";
}

}  // namespace

std::string completions(Shell shell, const std::vector<CommandText>& commands) {
  switch (shell) {
    case Shell::kBash: return bash(commands);
    case Shell::kZsh: return zsh(commands);
    case Shell::kFish: break;
  }
  return fish(commands);
}

std::string man_page(const CommandText& command, std::string_view version) {
  std::string out = head("kiln-" + command.name, command.description, version);
  out += ".B kiln " + command.name + "\n[\\fIOPTIONS\\fR]";
  for (const OptionText& positional : command.positionals) {
    const std::string name = "\\fI" + roff(positional.names.front()) + "\\fR" + (positional.is_repeated ? "..." : "");
    out += positional.is_required ? " " + name : " [" + name + "]";
  }
  out += "\n.SH OPTIONS\n" + options(command.positionals) + options(command.options);
  return out + examples(command.footer) + ".SH SEE ALSO\n.BR kiln (1)\n";
}

std::string man_page(const CommandText& program, const std::vector<CommandText>& commands,
                     std::string_view version) {
  std::string out = head("kiln", program.description, version);
  out += ".B kiln\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  for (const CommandText& command : commands) {
    out += ".TP\n.BR kiln\\-" + command.name + " (1)\n" + roff(command.description) + "\n";
  }
  out += ".SH OPTIONS\n" + options(program.options);
  // The last part of --help, under the heading that manual pages use for it.
  out += ".SH EXIT STATUS\n" + roff(kExitStatus) + "\n";
  return out + examples(program.footer.substr(0, program.footer.find(kExitStatusTitle)));
}

}  // namespace kiln::tools
