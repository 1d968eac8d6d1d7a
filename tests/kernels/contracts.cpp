#include "tests/kernels/contracts.hpp"

#include <algorithm>
#include <optional>

#include "ops/src/own_kernels.hpp"
#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {
namespace {

using ops::OwnKernel;

std::vector<std::string_view> modules() {
  std::vector<std::string_view> names;
  for (const OwnKernel& own : ops::kOwnKernels) {
    if (std::find(names.begin(), names.end(), own.module) == names.end()) {
      names.push_back(own.module);
    }
  }
  return names;
}

// Returns the roots of a module, in the order of its table.
std::vector<std::string_view> roots_of(std::string_view module) {
  std::vector<std::string_view> roots;
  for (const OwnKernel& own : ops::kOwnKernels) {
    const bool is_new = std::find(roots.begin(), roots.end(), own.root) == roots.end();
    if (own.module == module && is_new) roots.push_back(own.root);
  }
  return roots;
}

// Returns the contract of a root; empty if no family has one.
Contract contract_of(std::string_view module, std::string_view root) {
  for (const Family& family : kFamilies) {
    if (family.module != module || family.contracts == nullptr) continue;
    for (Contract& each : family.contracts()) {
      if (each.root == root) return each;
    }
  }
  return {root, "", "", "", "", ""};
}

// Returns the types of the kernels of a root as their names spell them: "f16 f32". If names have
// two types, they are grouped by the first: "u8: f16 f32<br>u32: f32". For names without a type,
// returns the part after the root.
std::string types_of(std::string_view module, std::string_view root) {
  std::vector<std::pair<std::string_view, std::string>> groups;
  for (const OwnKernel& own : ops::kOwnKernels) {
    if (own.module != module || own.root != root) continue;
    // The name without its last type.
    const std::optional<RootAndDType> parts = split_dtype(own.name);
    const std::string_view rest = parts ? parts->root : root;
    const std::string_view first = rest == root ? "" : rest.substr(root.size() + 1);
    const auto same = [first](const auto& group) { return group.first == first; };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(group, {first, ""});
    const std::string_view last = own.name.substr(rest.size() + (parts ? 1 : 0));
    group->second += (group->second.empty() ? "" : " ") + std::string(last);
  }
  std::string text;
  for (const auto& [first, types] : groups) {
    text += text.empty() ? "" : "<br>";
    if (!first.empty()) text += std::string(first) + ": ";
    text += types;
  }
  return text;
}

std::size_t count_of(std::string_view module) {
  return static_cast<std::size_t>(
      std::count_if(std::begin(ops::kOwnKernels), std::end(ops::kOwnKernels),
                    [module](const OwnKernel& own) { return own.module == module; }));
}

}  // namespace

std::string describe_kernels() {
  std::string text;
  for (const std::string_view module : modules()) {
    text += "\n### " + std::string(module) + ": " + std::to_string(count_of(module)) +
            " kernels\n\n"
            "| kernels | types | value | computed in | error | special values | notes |\n"
            "|---|---|---|---|---|---|---|\n";
    for (const std::string_view root : roots_of(module)) {
      const Contract contract = contract_of(module, root);
      text += "| " + std::string(root);
      for (const std::string& cell : {types_of(module, root), contract.formula, contract.computed,
                                      contract.bound, contract.special, contract.notes}) {
        text += cell.empty() ? " |" : " | " + cell;
      }
      text += " |\n";
    }
  }
  return text;
}

std::vector<std::string> without_contract() {
  std::vector<std::string> names;
  for (const std::string_view module : modules()) {
    for (const std::string_view root : roots_of(module)) {
      if (!contract_of(module, root).formula.empty()) continue;
      names.push_back(std::string(module) + "." + std::string(root));
    }
  }
  return names;
}

}  // namespace kiln::conformance
