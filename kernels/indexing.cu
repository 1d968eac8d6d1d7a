// indexing: elements read by ids along a dim.
#include "device/export.cuh"
#include "families/index.cuh"
#include "tables/indexing.hpp"

#define INDEX_SELECT(suffix, type, root, id)                                                       \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##id##_##suffix, kiln::u64 numel, kiln::u64 num_dims,        \
                      const kiln::u64* info, const kiln::id* ids, const kiln::type* inp,           \
                      kiln::type* out, kiln::u64, kiln::u64 src_dim_size, kiln::u64 ids_dim_size,  \
                      kiln::u64 right_size) {                                                      \
    kiln::families::index_select(numel, num_dims, info, ids, inp, out, src_dim_size, ids_dim_size, \
                                 right_size);                                                      \
  }
#define GATHER(suffix, type, root, id)                                                           \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##id##_##suffix, kiln::u64 numel, const kiln::id* ids,     \
                      const kiln::type* inp, kiln::type* out, kiln::u64, kiln::u64 src_dim_size, \
                      kiln::u64 ids_dim_size, kiln::u64 right_size) {                            \
    kiln::families::gather(numel, ids, inp, out, src_dim_size, ids_dim_size, right_size);        \
  }
#define ROW(root, id, dtypes, kernel) KILN_##dtypes(kernel, root, id)

KILN_EACH_INDEX_SELECT(ROW, INDEX_SELECT)
KILN_EACH_GATHER(ROW, GATHER)
