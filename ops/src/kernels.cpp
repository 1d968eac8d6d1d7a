#include "kiln/ops/kernels.hpp"

#include <kiln_kernels.hpp>

namespace kiln::ops {

const Catalog& catalog() { return kiln_kernels::catalog(); }

}  // namespace kiln::ops
