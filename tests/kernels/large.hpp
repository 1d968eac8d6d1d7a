// Launches over arrays of more than 2^32 elements, which are too large for the cases of the suite
// because these keep all of their memory on the host. The elements are bytes. They are checked in
// windows: at both ends, around element 2^32, and after the end.
#pragma once

#include <ostream>

#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

// Device memory that the launches need.
inline constexpr std::size_t kLargeMemory = std::size_t{10} << 30;

// Returns the number of failed launches, and prints each of them with the reason on `out`.
Result<std::size_t> run_large(const Device& device, std::ostream& out);

}  // namespace kiln::conformance
