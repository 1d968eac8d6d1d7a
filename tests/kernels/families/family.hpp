// The families of the suite: each writes the cases of its kernels.
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
#include "tests/kernels/contracts.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {

// The cases of a run.
enum class Selection : std::uint8_t {
  // The full product of views, alignments and grids for the kernels that represent their family. A
  // handful for the other kernels, which differ from these only in what they compute.
  kUsual,
  kEverything,  // the full product for all kernels
};
constexpr Breadth breadth_of(Selection selection, bool represents_family) {
  return selection == Selection::kEverything || represents_family ? Breadth::kFull
                                                                  : Breadth::kHandful;
}

// True if a kernel represents all kernels with the same access pattern: those in the tables with
// the same family, cost and element sizes. The representative is the one with the most scalars;
// floats come before integers, and otherwise the first in the table. False for kernels that are in
// no table.
bool represents_family(std::string_view module, std::string_view kernel);

// Adds the cases of a kernel of the family's module. Returns false if the family does not know the
// name.
using AddCases = bool (*)(std::string_view kernel, Selection selection,
                          std::vector<CaseSpec>& cases);

struct Family {
  std::string_view module;
  AddCases add_cases;
  Contracts (*contracts)() = nullptr;  // contracts of its kernels, for docs/KERNELS.md
};

bool add_affine_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_binary_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_cast_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_dequantize_cases(std::string_view kernel, Selection selection,
                          std::vector<CaseSpec>& cases);
bool add_fill_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_fused_product_cases(std::string_view kernel, Selection selection,
                             std::vector<CaseSpec>& cases);
bool add_half_product_cases(std::string_view kernel, Selection selection,
                            std::vector<CaseSpec>& cases);
bool add_indexing_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_norm_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_quantize_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_quantized_product_cases(std::string_view kernel, Selection selection,
                                 std::vector<CaseSpec>& cases);
bool add_rearrange_cases(std::string_view kernel, Selection selection,
                         std::vector<CaseSpec>& cases);
bool add_reduce_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_rope_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_sort_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_ternary_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_unary_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_convolution_cases(std::string_view kernel, Selection selection,
                           std::vector<CaseSpec>& cases);
bool add_upsample_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);
bool add_window_cases(std::string_view kernel, Selection selection, std::vector<CaseSpec>& cases);

Contracts affine_contracts();
Contracts binary_contracts();
Contracts cast_contracts();
Contracts dequantize_contracts();
Contracts fill_contracts();
Contracts fused_product_contracts();
Contracts half_product_contracts();
Contracts indexing_contracts();
Contracts norm_contracts();
Contracts quantize_contracts();
Contracts quantized_product_contracts();
Contracts rearrange_contracts();
Contracts reduce_contracts();
Contracts rope_contracts();
Contracts sort_contracts();
Contracts ternary_contracts();
Contracts unary_contracts();
Contracts convolution_contracts();
Contracts upsample_contracts();
Contracts window_contracts();

inline constexpr Family kFamilies[] = {
    {"affine", add_affine_cases, affine_contracts},
    {"binary", add_binary_cases, binary_contracts},
    {"cast", add_cast_cases, cast_contracts},
    {"conv", add_convolution_cases, convolution_contracts},
    {"conv", add_upsample_cases, upsample_contracts},
    {"conv", add_window_cases, window_contracts},
    {"fill", add_fill_cases, fill_contracts},
    {"indexing", add_indexing_cases, indexing_contracts},
    {"quantized", add_dequantize_cases, dequantize_contracts},
    {"quantized", add_quantize_cases, quantize_contracts},
    {"quantized", add_quantized_product_cases, quantized_product_contracts},
    {"quantized", add_fused_product_cases, fused_product_contracts},
    {"quantized_half", add_half_product_cases, half_product_contracts},
    {"rearrange", add_rearrange_cases, rearrange_contracts},
    {"reduce", add_norm_cases, norm_contracts},
    {"reduce", add_reduce_cases, reduce_contracts},
    {"reduce", add_rope_cases, rope_contracts},
    {"sort", add_sort_cases, sort_contracts},
    {"ternary", add_ternary_cases, ternary_contracts},
    {"unary", add_unary_cases, unary_contracts},
};

// Returns the cases of a kernel; none if no family knows it.
std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel,
                               Selection selection = Selection::kUsual);

// Splits "ugelu_erf_fp8_e4m3" into {"ugelu_erf", kF8E4M3}. Kernels spell f8e4m3 in two ways.
struct RootAndDType {
  std::string_view root;
  DType dtype;
};
std::optional<RootAndDType> split_dtype(std::string_view kernel);

}  // namespace kiln::conformance
