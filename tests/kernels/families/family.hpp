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
#include "tests/kernels/wanted.hpp"

namespace kiln::conformance {

// The cases of a run.
struct Selection {
  // The full product of views, alignments and grids for all kernels. Without it, only the kernels
  // that represent their family get it, and the others, which differ from these only in what they
  // compute, get a handful.
  bool everything = false;
  // If not 0, this many random cases for each kernel, instead of the listed ones.
  std::size_t random = 0;
  // Of a case, or threads. Larger cases are skipped, and random ones are not drawn. 0: no limit;
  // random cases then have up to 65536.
  std::size_t max_elements = 0;
  std::uint64_t seed = 1;  // of random cases, and of all values
};

// True if a kernel represents all kernels with the same access pattern: those in the tables with
// the same family, cost and element sizes. The representative is the one with the most scalars;
// floats come before integers, and otherwise the first in the table. False for kernels that are in
// no table.
bool represents_family(std::string_view module, std::string_view kernel);

// Adds the cases of a kernel of the family's module. Returns false if the family does not know the
// name. If a case is drawn, a family may add one for each way in which the kernel is used; one of
// them is taken. The launch helpers must take it: a plan that they refuse fails it. None is added if
// the draws give nothing for which the helpers choose the kernel.
using AddCases = bool (*)(std::string_view kernel, const Wanted& wanted,
                          std::vector<CaseSpec>& cases);

struct Family {
  std::string_view module;
  AddCases add_cases;
  Contracts (*contracts)() = nullptr;  // contracts of its kernels, for docs/KERNELS.md
};

bool add_affine_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_binary_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_cast_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_dequantize_cases(std::string_view kernel, const Wanted& wanted,
                          std::vector<CaseSpec>& cases);
bool add_fill_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_fused_product_cases(std::string_view kernel, const Wanted& wanted,
                             std::vector<CaseSpec>& cases);
bool add_half_product_cases(std::string_view kernel, const Wanted& wanted,
                            std::vector<CaseSpec>& cases);
bool add_indexing_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases);
bool add_norm_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_quantize_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases);
bool add_quantized_product_cases(std::string_view kernel, const Wanted& wanted,
                                 std::vector<CaseSpec>& cases);
bool add_rearrange_cases(std::string_view kernel, const Wanted& wanted,
                         std::vector<CaseSpec>& cases);
bool add_reduce_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_rope_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_sort_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_ternary_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_unary_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);
bool add_convolution_cases(std::string_view kernel, const Wanted& wanted,
                           std::vector<CaseSpec>& cases);
bool add_upsample_cases(std::string_view kernel, const Wanted& wanted,
                        std::vector<CaseSpec>& cases);
bool add_window_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases);

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
Contracts channel_convolution_contracts();
Contracts upsample_contracts();
Contracts window_contracts();

inline constexpr Family kFamilies[] = {
    {"affine", add_affine_cases, affine_contracts},
    {"binary", add_binary_cases, binary_contracts},
    {"cast", add_cast_cases, cast_contracts},
    {"conv", add_convolution_cases, convolution_contracts},
    {"conv", add_upsample_cases, upsample_contracts},
    {"conv", add_window_cases, window_contracts},
    {"conv_channels", add_convolution_cases, channel_convolution_contracts},
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

// Returns the cases of a kernel; none if no family knows it. The names of random cases have the
// case's number after the kernel. A case is the same however many there are.
std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel,
                               const Selection& selection = {});

// Splits "ugelu_erf_fp8_e4m3" into {"ugelu_erf", kF8E4M3}. Kernels spell f8e4m3 in two ways.
struct RootAndDType {
  std::string_view root;
  DType dtype;
};
std::optional<RootAndDType> split_dtype(std::string_view kernel);

}  // namespace kiln::conformance
