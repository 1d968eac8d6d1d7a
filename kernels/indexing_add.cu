// indexing: elements brought to places that ids name along a dim.
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
#define BRING(name, type, id, bring)                                                              \
  KILN_BOUNDED_KERNEL(1024, 1, name, const kiln::id* ids, const kiln::type* inp, kiln::type* out, \
                      kiln::u64 left_size, kiln::u64 src_dim_size, kiln::u64 dst_dim_size,        \
                      kiln::u64 right_size) {                                                     \
    kiln::families::scatter<kiln::families::Bring::bring>(ids, inp, out, left_size, src_dim_size, \
                                                          dst_dim_size, right_size);              \
  }
#define SCATTER(suffix, type, root, id) BRING(root##_##id##_##suffix, type, id, kAssign)
#define SCATTER_ADD(suffix, type, root, id) BRING(root##_##id##_##suffix, type, id, kAdd)
#define ROW(root, id, dtypes, kernel) KILN_##dtypes(kernel, root, id)

KILN_EACH_INDEX_ADD(ROW, INDEX_ADD)
KILN_EACH_SCATTER(ROW, SCATTER)
KILN_EACH_SCATTER_ADD(ROW, SCATTER_ADD)
