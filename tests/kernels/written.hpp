// Elementwise launches of the reference's geometry over more than a device holds at once, where some
// blocks work for all: that between them they write every chunk. What they write, the suite's cases say.
#pragma once

#include <ostream>

#include "kiln/result.hpp"
#include "kiln/runtime.hpp"

namespace kiln::conformance {

// The number of launches that left something as it was; each is told on `out`, with the first place.
Result<std::size_t> run_written(const Device& device, std::ostream& out);

}  // namespace kiln::conformance
