// indexing: adds elements at ids along a dim. One id serves all places of the other dims.
#include "device/export.cuh"
#include "families/index_add.cuh"
#include "tables/indexing.hpp"

#define INDEX_ADD(suffix, type, root, id)                                                        \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##id##_##suffix, const kiln::id* ids,                      \
                      kiln::u64 ids_dim_size, const kiln::type* inp, kiln::type* out,            \
                      kiln::u64 left_size, kiln::u64, kiln::u64 dst_dim_size,                    \
                      kiln::u64 right_size) {                                                    \
    kiln::families::index_add(ids, ids_dim_size, inp, out, left_size, dst_dim_size, right_size); \
  }
#define ROW(root, id, dtypes, kernel) KILN_##dtypes(kernel, root, id)

KILN_EACH_INDEX_ADD(ROW, INDEX_ADD)
