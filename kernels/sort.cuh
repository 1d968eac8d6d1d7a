// Shared by the sources of module sort: makes a row of tables/sort.hpp a kernel with one block for
// each row.
#pragma once

#include "device/export.cuh"
#include "families/sort.cuh"
#include "tables/sort.hpp"

// name(x, dst, ncols, ncols_pad)
#define KILN_SORT_KERNEL(name, type, result, sorted, descending)                              \
  KILN_BOUNDED_KERNEL(1024, 1, name, const kiln::type* x, kiln::result* dst, kiln::i32 ncols, \
                      kiln::i32 ncols_pad) {                                                  \
    kiln::families::sort_rows<descending, kiln::families::Sorted::sorted>(x, dst, ncols,      \
                                                                          ncols_pad);         \
  }
#define KILN_ARGSORT_OF(suffix, type, root, descending) \
  KILN_SORT_KERNEL(root##_##suffix, type, u32, kColumns, descending)
#define KILN_SORT_OF(suffix, type, root, descending) \
  KILN_SORT_KERNEL(root##_##suffix, type, type, kElements, descending)
#define KILN_ARGSORT(root, dtypes, descending) KILN_##dtypes(KILN_ARGSORT_OF, root, descending)
#define KILN_SORT(root, dtypes, descending) KILN_##dtypes(KILN_SORT_OF, root, descending)
