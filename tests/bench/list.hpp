// Which cases are measured.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/cases.hpp"

namespace kiln::bench {

// Every kernel at 4,096 and 2^22 elements; one for each family, cost and element size at powers of
// 4 from 1 to 2^28, at powers of 16 from 256 on with data of every kind unless it only moves values; strided
// views, large and small. About ten minutes.
std::vector<BenchCase> full_list(const std::vector<std::string>& kernels);

// A few kernels of each sort at six sizes, and strided. Under a minute.
std::vector<BenchCase> quick_list(const std::vector<std::string>& kernels);

}  // namespace kiln::bench
