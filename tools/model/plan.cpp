#include "tools/model/plan.hpp"

#include <array>

namespace kiln::tools {

std::string_view to_string(StepKind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"hipify", "compile", "bundle",
                                                             "fatbin", "join"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

// Replaces each `{name}` for which `find` returns a string (or null).
template <typename Find>
std::string replace_placeholders(std::string_view text, Find find) {
  std::string replaced;
  while (true) {
    const std::size_t open = text.find('{');
    replaced += text.substr(0, open);
    if (open == std::string_view::npos) return replaced;
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const std::string* value =
        close == std::string_view::npos ? nullptr : find(text.substr(1, close - 1));
    replaced += value != nullptr ? std::string_view(*value) : text.substr(0, 1);
    text.remove_prefix(value != nullptr ? close + 1 : 1);
  }
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// A `{` of the user's, before what would otherwise be a place.
constexpr std::string_view kBrace = "{{}";

}  // namespace

std::string below_out(std::string_view neutral) {
  constexpr std::string_view kOut = "{out}/";
  return std::string(neutral.substr(neutral.starts_with(kOut) ? kOut.size() : 0));
}

std::string expand_placeholders(std::string_view text, const Plan& plan) {
  return replace_placeholders(text, [&](std::string_view name) -> const std::string* {
    const auto found = plan.placeholders.find(name);
    return found == plan.placeholders.end() ? nullptr : &found->second;
  });
}

std::string expand(std::string_view text, const Plan& plan) {
  return replace_placeholders(text, [&](std::string_view name) -> const std::string* {
    if (name == "src") return &plan.source_root.native();
    if (name == "out") return &plan.out_root.native();
    const auto found = plan.placeholders.find(name);
    return found == plan.placeholders.end() ? nullptr : &found->second;
  });
}

std::string in_source_root(std::string_view text, const Plan& plan) {
  std::string word = expand_placeholders(text, plan);
  replace_all(word, "{src}/", "");
  replace_all(word, "{src}", ".");
  replace_all(word, "{out}", plan.out_root.string());
  replace_all(word, kBrace, "{");
  return word;
}

std::string without_placeholders(std::string_view text) {
  std::string escaped;
  for (std::size_t open; (open = text.find('{')) != std::string_view::npos;) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", open + 1);
    const bool is_name = end != std::string_view::npos && end > open + 1 && text[end] == '}';
    const bool is_brace = text.substr(open).starts_with(kBrace);
    escaped.append(text.substr(0, open)).append(is_name || is_brace ? kBrace : "{");
    text.remove_prefix(open + 1);
  }
  return escaped.append(text);
}

std::vector<std::string> command_line(const Step& step, const Plan& plan) {
  std::vector<std::string> words;
  for (const std::string& word : step.argv) words.push_back(in_source_root(word, plan));
  return words;
}

}  // namespace kiln::tools
