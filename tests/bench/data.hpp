// The inputs of the benchmark: values of a dtype and a kind.
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/ops/dtype.hpp"
#include "tests/bench/cases.hpp"

namespace kiln::bench {

// The same bytes in every run. Integers: 0 to 255, or around 0 with a deviation of 32 (around 128
// where there is no sign), or below 0 (the upper half of the type where there is no sign); special
// ones add 1% of both ends of the type, 0 and -1.
std::vector<std::byte> values_of(ops::DType dtype, DataKind kind, std::size_t count);

// Elements of an integer type from 0 to `limit` - 1, in no order.
std::vector<std::byte> numbers_below(std::size_t limit, ops::DType dtype, std::size_t count);

}  // namespace kiln::bench
