// Elementwise launches in the reference geometry with more threads than a device holds at once,
// where some blocks do the work of all. Checks that they write every chunk; the cases of the suite
// check the values.
#pragma once

#include <ostream>

#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

// Returns the number of launches that left an element unwritten, and prints each of them with the
// first such place on `out`.
Result<std::size_t> run_written(const Device& device, std::ostream& out);

}  // namespace kiln::conformance
