// sort: rows that several blocks share, step by step.
#include "device/export.cuh"
#include "families/sort_long.cuh"
#include "tables/sort.hpp"

// name(x, dst, workspace, rows, columns, parts, order, step)
#define SORT_LONG(suffix, type, root)                                                          \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##suffix, const kiln::type* x, void* dst,                \
                      kiln::u8* workspace, kiln::u64 rows, kiln::u32 columns, kiln::u32 parts, \
                      kiln::u32 order, kiln::u32 step) {                                       \
    kiln::families::sort_long(x, dst, workspace, rows, columns, parts, order, step);           \
  }
#define ROW(root, dtypes) KILN_##dtypes(SORT_LONG, root)

KILN_EACH_SORT_LONG(ROW)
