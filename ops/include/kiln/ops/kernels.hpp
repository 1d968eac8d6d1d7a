// The catalog of kiln's own kernels, as this build made it.
#pragma once

#include "kiln/catalog.hpp"

namespace kiln::ops {

// Lives as long as the program.
const Catalog& catalog();

}  // namespace kiln::ops
