#include "tests/kernels/families/family.hpp"

#include <tuple>

#include "ops/src/own_kernels.hpp"

namespace kiln::conformance {

namespace {

// Adds the cases of a kernel by the family that knows it, if any.
void add_cases(std::string_view module, std::string_view kernel, const Wanted& wanted,
               std::vector<CaseSpec>& cases) {
  for (const Family& family : kFamilies) {
    if (family.module == module && family.add_cases(kernel, wanted, cases)) return;
  }
}

// Draws random case `number` of a kernel until its work is within the limit. Returns nothing if no
// draw gives such a case.
std::optional<CaseSpec> random_case(std::string_view module, std::string_view kernel,
                                    const Selection& selection, std::size_t number) {
  constexpr std::size_t kDefaultElements = 65536;
  const std::size_t most = selection.max_elements != 0 ? selection.max_elements : kDefaultElements;
  const std::string name = std::string(kernel) + "/random=" + std::to_string(number);
  for (std::size_t i = 0; i < kMaxDraws; ++i) {
    Draw draw(seed_for(name + "/" + std::to_string(i), selection.seed).own, most);
    std::vector<CaseSpec> cases;
    add_cases(module, kernel, {Breadth::kHandful, &draw}, cases);
    if (cases.empty()) return std::nullopt;
    CaseSpec& spec = cases[draw.below(cases.size())];
    if (spec.elements > most) continue;
    spec.name.replace(0, kernel.size(), name);
    spec.build = [build = std::move(spec.build), named = spec.name](const Seed& seed) {
      Case made = build(seed);
      made.name = named;
      return made;
    };
    return std::move(spec);
  }
  return std::nullopt;
}

}  // namespace

std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel,
                               const Selection& selection) {
  std::vector<CaseSpec> cases;
  if (selection.random == 0) {
    const bool is_full = selection.everything || represents_family(module, kernel);
    add_cases(module, kernel,
              {is_full ? Breadth::kFull : Breadth::kHandful, nullptr, selection.everything}, cases);
  }
  for (std::size_t number = 0; number < selection.random; ++number) {
    if (auto spec = random_case(module, kernel, selection, number)) {
      cases.push_back(std::move(*spec));
    }
  }
  return cases;
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
