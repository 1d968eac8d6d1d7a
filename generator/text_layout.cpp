#include "generator/text_layout.hpp"

#include <algorithm>

#include "generator/literal.hpp"

namespace kiln::generator {

std::string listed(std::string line, const std::vector<std::string>& elements, char end,
                   const std::string& lead) {
  if (elements.empty()) return line + end;
  std::string text;
  const std::string margin = lead + std::string(line.size() - lead.size(), ' ');
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string element = elements[i] + (i + 1 < elements.size() ? ',' : end);
    const bool first = i == 0 || line == margin;
    if (!first && line.size() + 1 + element.size() + 1 > kColumns) {
      text += line + '\n';
      line = margin;
    } else if (!first) {
      line += ' ';
    }
    line += element;
  }
  return text + line;
}

std::string in_comment(const std::string& name) {
  const auto is_harmless = [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != '?'; };
  return std::ranges::all_of(name, is_harmless) ? name : literal(name);
}

}  // namespace kiln::generator
