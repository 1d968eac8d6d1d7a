#include "tools/engine/option_words.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.hpp"

namespace kiln::tools {
namespace {

using Views = std::vector<std::string_view>;

void add_names(std::string_view word, std::vector<std::string>& names) {
  if (word.starts_with('@')) word.remove_prefix(1);
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos) add_names(word.substr(equals + 1), names);
  for (const std::string_view name : split(word, ',')) {
    if (!name.empty() && !name.starts_with('-')) names.emplace_back(name);
  }
  if (word.starts_with('-')) return;
  if (word.find(',') != std::string_view::npos) names.emplace_back(word);
}

// Returns the words, with those for the linker taken out of "-Wl,-Lvendor,-lx" and "-Xlinker -lx".
Views linker_words(const std::vector<std::string>& words) {
  constexpr std::string_view kList = "-Wl,";
  Views found;
  for (const std::string_view word : words) {
    if (word == "-Xlinker") continue;
    if (!word.starts_with(kList)) {
      found.push_back(word);
      continue;
    }
    for (const std::string_view part : split(word.substr(kList.size()), ',')) found.push_back(part);
  }
  return found;
}

// Returns the value of `option`: what follows it in `word`, or `next` if nothing does. "-Lx", "-L
// x", "--library-path=x". Returns an empty text if `word` is another option.
std::string_view value_of(std::string_view option, std::string_view word, std::string_view next) {
  if (!word.starts_with(option)) return {};
  if (word == option) return next;
  word.remove_prefix(option.size());
  if (!option.starts_with("--")) return word;
  return word.starts_with('=') ? word.substr(1) : std::string_view();
}

// Returns the values of the options, and the parts of those that are lists: nvcc accepts "-lx,y".
Views values_of(std::span<const std::string_view> options, const Views& words) {
  Views values;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    for (const std::string_view option : options) {
      const std::string_view value = value_of(option, words[i], next);
      values.push_back(value);
      if (value.find(',') == std::string_view::npos) continue;
      for (const std::string_view part : split(value, ',')) values.push_back(part);
    }
  }
  std::erase(values, std::string_view());
  return values;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == '\0' && is_blank) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> file_names(std::string_view word) {
  std::vector<std::string> names;
  add_names(word, names);
  return names;
}

bool names_options(std::string_view previous, std::string_view word) {
  constexpr std::array<std::string_view, 3> kOptions = {"--options-file", "-optf", "--config"};
  if (std::ranges::find(kOptions, previous) != kOptions.end()) return true;
  if (std::ranges::find(kOptions, word.substr(0, word.find('='))) != kOptions.end()) return true;
  return word.starts_with('@') || word.find(",@") != std::string_view::npos ||
         word.find("=@") != std::string_view::npos;
}

std::vector<std::string> library_files(const std::vector<std::string>& words,
                                       std::string_view more_folders) {
  constexpr std::array<std::string_view, 3> kFolder = {"-L", "--library-path",
                                                       "--library-directory"};
  constexpr std::array<std::string_view, 2> kName = {"-l", "--library"};
  const Views all = linker_words(words);
  Views folders = values_of(kFolder, all);
  for (const std::string_view folder : split(more_folders, ':')) folders.push_back(folder);
  std::vector<std::string> files;
  for (const std::string_view name : values_of(kName, all)) {
    for (const std::string_view folder : folders) {
      if (folder.empty()) continue;
      const std::string path = std::string(folder) + "/";
      if (name.starts_with(':')) {
        files.push_back(path + std::string(name.substr(1)));
        continue;
      }
      for (const char* extension : {".so", ".a"}) {
        files.push_back(path + "lib" + std::string(name) + extension);
      }
    }
  }
  return files;
}

}  // namespace kiln::tools
