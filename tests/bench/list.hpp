// The lists of cases to measure.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/cases.hpp"

namespace kiln::bench {

// Every kernel at 4,096 and 2^22 elements. One kernel for each family, cost and element size at
// powers of 4 from 1 to 2^28; unless it only moves values, at powers of 16 from 256 on with every
// kind of data. Strided views, large and small. Takes about ten minutes.
std::vector<BenchCase> full_list(const std::vector<std::string>& kernels);

// A few kernels of each family at six sizes, and strided. Takes less than a minute.
std::vector<BenchCase> quick_list(const std::vector<std::string>& kernels);

}  // namespace kiln::bench
