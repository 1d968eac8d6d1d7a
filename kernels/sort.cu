// sort: the order of the elements of each row.
#include "device/export.cuh"
#include "families/sort.cuh"
#include "tables/sort.hpp"

// name(x, dst, ncols, ncols_pad)
#define ARGSORT(suffix, type, root, descending)                                            \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, const kiln::type* x, kiln::u32* dst,       \
                      kiln::i32 ncols, kiln::i32 ncols_pad) {                              \
    kiln::families::sort_rows<descending, kiln::families::Sorted::kColumns>(x, dst, ncols, \
                                                                            ncols_pad);    \
  }
#define ROW(root, dtypes, descending) KILN_##dtypes(ARGSORT, root, descending)

KILN_EACH_ARGSORT(ROW)
