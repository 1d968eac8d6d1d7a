#include "tools/stages/depfile.hpp"

#include <algorithm>
#include <unordered_set>

namespace kiln::tools {
namespace {

// The next word of a rule, or empty at its end. Stops before an unescaped newline.
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

std::string write_depfile(std::string_view target, const std::vector<std::string>& all) {
  // No rule can hold a newline: better a file that is not watched than a rule that nobody wrote.
  std::vector<std::string> prerequisites = all;
  std::erase_if(prerequisites,
                [](const std::string& path) { return path.find('\n') != std::string::npos; });
  std::string text = escape(target) + ":";
  for (const std::string& path : prerequisites) text += " \\\n  " + escape(path);
  text += "\n";
  for (const std::string& path : prerequisites) text += "\n" + escape(path) + ":\n";
  return text;
}

}  // namespace kiln::tools
