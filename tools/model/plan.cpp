#include "tools/model/plan.hpp"

#include <array>

namespace kiln::tools {

std::string_view to_string(StepKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"hipify", "compile", "bundle",
                                                             "fatbin"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string expand(std::string_view text, const Plan& plan) {
  std::string expanded;
  while (!text.empty()) {
    if (text.starts_with("{src}")) {
      expanded += plan.source_root.string();
      text.remove_prefix(5);
    } else if (text.starts_with("{out}")) {
      expanded += plan.out_root.string();
      text.remove_prefix(5);
    } else {
      expanded += text.front();
      text.remove_prefix(1);
    }
  }
  return expanded;
}

}  // namespace kiln::tools
