// indexing: stores or adds elements at ids along a dim. Each element has an id of its own.
#include "device/export.cuh"
#include "families/index_add.cuh"
#include "tables/indexing.hpp"

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

KILN_EACH_SCATTER(ROW, SCATTER)
KILN_EACH_SCATTER_ADD(ROW, SCATTER_ADD)
