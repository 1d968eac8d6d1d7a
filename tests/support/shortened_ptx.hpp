// Compares a PTX text with what shorten_ptx() makes of it, token by token.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "formats/ptx_tokens.hpp"

namespace kiln::testing {

// Returns the name that a word starts with: "v" of "v.x".
inline std::string_view ptx_name(std::string_view word) { return word.substr(0, word.find('.')); }

// Returns what is wrong with `after`, or an empty string. The tokens must be the same but for labels
// and parameters that are called otherwise. A new name must not be in `before`, and must stand for
// one old name in each function.
inline std::string difference_of_ptx(std::string_view before, std::string_view after) {
  std::set<std::string_view> old_names;
  PtxTokenizer all(before);
  for (PtxToken token = all.next(); token.kind != PtxTokenKind::kEnd; token = all.next()) {
    old_names.insert(ptx_name(token.text));
  }
  const auto number_at = [](std::string_view name) {
    return name.find_last_not_of("0123456789") + 1;
  };
  std::map<std::string_view, std::string_view> meaning;  // new name -> old name
  PtxTokenizer of_before(before), of_after(after);
  for (;;) {
    const PtxToken one = of_before.next(), other = of_after.next();
    const std::string pair = std::string(one.text) + " -> " + std::string(other.text);
    if (one.kind != other.kind) return "another kind of token: " + pair;
    if (one.kind == PtxTokenKind::kEnd) return {};
    if (one.text == ".entry" || one.text == ".func") meaning.clear();
    if (one.text == other.text) continue;
    const std::string_view old_name = ptx_name(one.text), name = ptx_name(other.text);
    const std::string_view start = old_name.substr(0, number_at(old_name));
    const bool is_short = one.kind == PtxTokenKind::kWord && name.size() < old_name.size() &&
                          (start.ends_with("_param_") || start.starts_with("$L__BB"));
    const bool is_alike =
        one.text.substr(number_at(old_name)) == other.text.substr(number_at(name));
    if (!is_short || !is_alike) return "another token: " + pair;
    if (old_names.contains(name)) return "the name was there before: " + pair;
    if (meaning.emplace(name, old_name).first->second != old_name)
      return "two of one name: " + pair;
  }
}

}  // namespace kiln::testing
