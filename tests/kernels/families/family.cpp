#include "tests/kernels/families/family.hpp"

#include <tuple>

#include "ops/src/own_kernels.hpp"

namespace kiln::conformance {

std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel,
                               Selection selection) {
  std::vector<CaseSpec> cases;
  for (const Family& family : kFamilies) {
    if (family.module == module && family.add_cases(kernel, selection, cases)) return cases;
  }
  return {};
}

bool represents_family(std::string_view module, std::string_view kernel) {
  using ops::OwnKernel;
  const OwnKernel* const asked = ops::find_own_kernel(module, kernel);
  if (asked == nullptr) return false;
  // The properties that determine the access pattern of a kernel.
  const auto way = [](const OwnKernel& own) {
    const std::size_t first = size_of(own.first), size = size_of(own.dtype);
    return std::tuple(own.module, own.family, own.cost, size, first<size, first> size);
  };
  const OwnKernel* chosen = nullptr;
  for (const OwnKernel& own : ops::kOwnKernels) {
    if (way(own) != way(*asked)) continue;
    const auto rank = [](const OwnKernel& each) {
      return std::pair(each.scalars, is_float(each.dtype));
    };
    if (chosen == nullptr || rank(own) > rank(*chosen)) chosen = &own;
  }
  return chosen == asked;
}

std::optional<RootAndDType> split_dtype(std::string_view kernel) {
  struct Spelling {
    std::string_view suffix;
    DType dtype;
  };
  // No suffix is the end of another one.
  static constexpr Spelling kSpellings[] = {
#define KILN_ROW(suffix, type, ...) {"_" #suffix, ops::dtypes::type},
      KILN_EVERY(KILN_ROW, ) KILN_FLOATS(KILN_ROW, )
#undef KILN_ROW
  };
  for (const Spelling& spelling : kSpellings) {
    if (kernel.size() > spelling.suffix.size() &&
        kernel.substr(kernel.size() - spelling.suffix.size()) == spelling.suffix) {
      return RootAndDType{kernel.substr(0, kernel.size() - spelling.suffix.size()), spelling.dtype};
    }
  }
  return std::nullopt;
}

}  // namespace kiln::conformance
