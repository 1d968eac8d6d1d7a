// Cases of shapes that somebody asks for, beside the fixed list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

// "1000x77", "2^20". Errors: kInvalidInput, with what was expected.
Result<ops::Extents> parse_dims(std::string_view text);

// "transposed", "normal". Errors: kInvalidInput, with the names that there are.
Result<View> parse_view(std::string_view text);
Result<DataKind> parse_kind(std::string_view text);

// A case for each kernel that takes as many dims. A view other than kContiguous: for each that
// takes strides; its strided operand lies like that.
std::vector<BenchCase> cases_of_shape(const std::vector<std::string>& kernels,
                                      const ops::Extents& dims, View view, DataKind kind);

}  // namespace kiln::bench
