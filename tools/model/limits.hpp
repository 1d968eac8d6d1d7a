// What a manifest says that a finished build must keep to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::tools {

// The most that may be: of the whole build, or of one module. Sizes in bytes, of images as they
// are.
struct Budgets {
  std::optional<std::uint64_t> image_bytes, module_bytes, total_bytes;
  std::optional<std::uint64_t> registers, spills, shared_bytes;  // of a kernel
};

struct BudgetField {
  std::string_view key;
  std::optional<std::uint64_t> Budgets::*member;
};
inline constexpr std::array<BudgetField, 6> kBudgetFields = {{
    {"image_bytes", &Budgets::image_bytes},
    {"module_bytes", &Budgets::module_bytes},
    {"total_bytes", &Budgets::total_bytes},
    {"registers", &Budgets::registers},
    {"spills", &Budgets::spills},
    {"shared_bytes", &Budgets::shared_bytes},
}};

// A module's own budgets win over the manifest's.
inline Budgets narrowed(Budgets budgets, const Budgets& own) {
  for (const BudgetField& field : kBudgetFields) {
    if (own.*field.member) budgets.*field.member = own.*field.member;
  }
  return budgets;
}

// The oldest software that every image must load on. Versions as 1000 * major + 10 * minor; 0: any.
struct Floors {
  std::uint32_t cuda = 0;  // what the NVIDIA driver supports
  std::uint32_t rocm = 0;
};

}  // namespace kiln::tools
