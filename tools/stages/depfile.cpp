#include "tools/stages/depfile.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

// Returns the next word of a rule, or an empty string at the end of the rule. Stops before an
// unescaped newline.
std::string take_word(std::string_view& rest) {
  std::size_t i = 0;
  const auto next_is = [&](char c) { return i + 1 < rest.size() && rest[i + 1] == c; };
  while (i < rest.size()) {
    if (rest[i] == ' ' || rest[i] == '\t' || rest[i] == '\r') {
      ++i;
    } else if (rest[i] == '\\' && next_is('\n')) {
      i += 2;
    } else {
      break;
    }
  }
  std::string word;
  for (; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') break;
    if (c == '\\' && next_is('\n')) break;
    if (c == '\\' && (next_is(' ') || next_is('\t') || next_is('#'))) {
      word += rest[++i];
    } else if (c == '$' && next_is('$')) {
      word += rest[++i];
    } else {
      word += c;
    }
  }
  rest.remove_prefix(i);
  return word;
}

std::string escape(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (c == ' ' || c == '\t' || c == '#') escaped += '\\';
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

Error special_character(std::string_view path, char special) {
  // The path up to the end of the file or folder name that has to be changed.
  const std::string_view named = path.substr(0, path.find('/', path.find(special)));
  return Error{ErrorCode::kInvalidInput, quote(path) + " cannot be named in a depfile"}
      .note("Make or Ninja takes " + quote({&special, 1}) + " for more than a letter")
      .hint("rename " + (named == path ? std::string("it") : quote(named)) +
            ", or build without --depfile (kiln_add_kernels and 'kiln plan --ninja' need it)");
}

}  // namespace

Result<std::vector<std::string>> parse_depfile(std::string_view text) {
  std::string_view rest = text;
  bool seen_colon = false;
  while (!seen_colon) {
    const std::string word = take_word(rest);
    if (word.empty()) {
      return Error{.code = ErrorCode::kInvalidInput,
                   .message = "the dependency file has no rule of the form 'target: files'"};
    }
    seen_colon = word.back() == ':';
  }
  std::vector<std::string> paths;
  std::unordered_set<std::string> seen;
  for (std::string word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (seen.insert(word).second) paths.push_back(std::move(word));
  }
  return paths;
}

Result<void> check_rule_path(std::string_view path) {
  const auto is_special = [](char c) {
    constexpr std::string_view kSpecial = "\"&'*:;<>?[\\]^`{|}";
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
           kSpecial.find(c) != std::string_view::npos;
  };
  const auto special = std::find_if(path.begin(), path.end(), is_special);
  if (special == path.end()) return {};
  return special_character(path, *special);
}

Result<std::string> write_depfile(std::string_view target,
                                  const std::vector<std::string>& prerequisites) {
  KILN_TRY(check_rule_path(target));
  for (const std::string& path : prerequisites) KILN_TRY(check_rule_path(path));
  // To Make, "target: a=b" and "a=b:" are assignments, but "target: c a=b" is not.
  const auto is_plain = [](const std::string& path) {
    return path.find('=') == std::string::npos;
  };
  std::vector<std::string> ordered = prerequisites;
  const auto plain_end = std::stable_partition(ordered.begin(), ordered.end(), is_plain);
  if (plain_end == ordered.begin() && !ordered.empty()) {
    return special_character(ordered.front(), '=');
  }
  std::string text = escape(target) + ":";
  for (const std::string& path : ordered) text += " \\\n  " + escape(path);
  text += "\n";
  for (auto path = ordered.begin(); path != plain_end; ++path) text += "\n" + escape(*path) + ":\n";
  return text;
}

bool is_own_depfile(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return text.empty() || first.find(".stamp:") != std::string_view::npos;
}

}  // namespace kiln::tools
