// Arrays of more than 2^32 elements: too large for the cases of the suite, which hold all of their
// memory on the host. Launches over bytes, checked in windows: at both ends, where 32 bits run out,
// and behind the end.
#pragma once

#include <ostream>

#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

// Device memory that the launches need.
inline constexpr std::size_t kLargeMemory = std::size_t{10} << 30;

// The number of launches that went wrong; each is told on `out`, with what is wrong.
Result<std::size_t> run_large(const Device& device, std::ostream& out);

}  // namespace kiln::conformance
