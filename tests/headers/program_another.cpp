// The file name and every name in it are those of the other header; the bytes are not.
#include <kernels.hpp>

const kiln::Catalog& another_catalog();
const kiln::Catalog& another_catalog() { return kernels::catalog(); }
