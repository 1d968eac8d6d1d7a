// sort: the elements of each row in their order.
#include "device/export.cuh"
#include "families/sort.cuh"
#include "tables/sort.hpp"

// name(x, dst, ncols, ncols_pad)
#define SORT(suffix, type, root, descending)                                                \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, const kiln::type* x, kiln::type* dst,       \
                      kiln::i32 ncols, kiln::i32 ncols_pad) {                               \
    kiln::families::sort_rows<descending, kiln::families::Sorted::kElements>(x, dst, ncols, \
                                                                             ncols_pad);    \
  }
#define ROW(root, dtypes, descending) KILN_##dtypes(SORT, root, descending)

KILN_EACH_SORT(ROW)
