// The families that the suite knows: who writes the cases of which kernel.
//
// A family recognises its kernels by name and adds their cases. To test a new operation, add its
// reference to its family; to test a new module, add a file here and a row to kFamilies
// (docs/TESTING.md).
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/kernels/case.hpp"

namespace kiln::conformance {

// Adds the cases of a kernel of the family's module. False when the name means nothing to it.
using AddCases = bool (*)(std::string_view kernel, std::vector<CaseSpec>& cases);

struct Family {
  std::string_view module;
  AddCases add_cases;
};

bool add_affine_cases(std::string_view kernel, std::vector<CaseSpec>& cases);
bool add_fill_cases(std::string_view kernel, std::vector<CaseSpec>& cases);
bool add_unary_cases(std::string_view kernel, std::vector<CaseSpec>& cases);

inline constexpr Family kFamilies[] = {
    {"affine", add_affine_cases},
    {"fill", add_fill_cases},
    {"unary", add_unary_cases},
};

// The cases of a kernel; none when no family knows it.
std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel);

// "ugelu_erf_fp8_e4m3" is {"ugelu_erf", kF8E4M3}: the kernels spell f8e4m3 in two ways.
struct RootAndDType {
  std::string_view root;
  DType dtype;
};
std::optional<RootAndDType> split_dtype(std::string_view kernel);

// The type that an operation on `dtype` computes in, when it computes in more than the type itself.
constexpr DType compute_dtype(DType dtype) {
  return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

// Formulas of the other types are always evaluated in compute_dtype: nothing adds or multiplies
// floats of 8 bits.
constexpr bool has_own_arithmetic(DType dtype) { return size_of(dtype) > 1; }

}  // namespace kiln::conformance
