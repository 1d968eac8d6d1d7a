#include <kernels.hpp>

const kiln::Catalog& second_catalog();
const kiln::Catalog& second_catalog() { return kernels::catalog(); }
