// Cases of requested shapes, outside of the fixed list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

// Parses "1000x77" or "2^20". Errors: kInvalidInput, with the expected form.
Result<ops::Extents> parse_dims(std::string_view text);

// Parses "64,3,1,1": output channels, size, stride, padding. Errors: as above.
Result<Windows> parse_windows(std::string_view text);

// Parse "transposed", "normal". Errors: kInvalidInput, with the valid names.
Result<View> parse_view(std::string_view text);
Result<DataKind> parse_kind(std::string_view text);

// Returns a case for each kernel that takes so many dims. For a view other than kContiguous: for
// each kernel that takes strides; its strided operand has that view.
std::vector<BenchCase> cases_of_shape(const std::vector<std::string>& kernels,
                                      const ops::Extents& dims, View view, DataKind kind);

}  // namespace kiln::bench
