// The limits that a manifest sets for a finished build.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::tools {

// Upper limits for the whole build or for one module. Sizes are in bytes of uncompressed images.
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

// A module's own budgets override the manifest's.
inline Budgets narrowed(Budgets budgets, const Budgets& own) {
  for (const BudgetField& field : kBudgetFields) {
    if (own.*field.member) budgets.*field.member = own.*field.member;
  }
  return budgets;
}

// The oldest software that must load every image. Versions are 1000 * major + 10 * minor; 0: any.
struct Floors {
  std::uint32_t cuda = 0;  // CUDA version that the NVIDIA driver supports
  std::uint32_t rocm = 0;
};

}  // namespace kiln::tools
