// indexing: writes and sums at ids along a dim, in any order, and sums by sorted ids.
#include "device/export.cuh"
#include "families/index_sum.cuh"
#include "tables/indexing_sum.hpp"

// name(ids, ids_dim_size, inp, out, left_size, src_dim_size, dst_dim_size, right_size)
#define INDEX_ANY(suffix, type, root, id)                                               \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##id##_##suffix, const kiln::id* ids,             \
                      kiln::u64 ids_dim_size, const kiln::type* inp, kiln::type* out,   \
                      kiln::u64 left_size, kiln::u64, kiln::u64 dst_dim_size,           \
                      kiln::u64 right_size) {                                           \
    kiln::families::index_sum_any(ids, ids_dim_size, inp, out, left_size, dst_dim_size, \
                                  right_size);                                          \
  }
// name(ids, inp, out, left_size, src_dim_size, dst_dim_size, right_size)
#define BRING_ANY(name, type, id, bring)                                                          \
  KILN_BOUNDED_KERNEL(1024, 2, name, const kiln::id* ids, const kiln::type* inp, kiln::type* out, \
                      kiln::u64 left_size, kiln::u64 src_dim_size, kiln::u64 dst_dim_size,        \
                      kiln::u64 right_size) {                                                     \
    kiln::families::scatter_any<kiln::families::Bring::bring>(                                    \
        ids, inp, out, left_size, src_dim_size, dst_dim_size, right_size);                        \
  }
#define SCATTER_ANY(suffix, type, root, id) BRING_ANY(root##_##id##_##suffix, type, id, kAssign)
#define SCATTER_ADD_ANY(suffix, type, root, id) BRING_ANY(root##_##id##_##suffix, type, id, kAdd)
// name(ids, order, ids_dim_size, inp, out, left_size, dst_dim_size, right_size)
#define INDEX_SORTED(suffix, type, root, id)                                                      \
  KILN_BOUNDED_KERNEL(1024, 1, root##_##id##_##suffix, const kiln::id* ids,                       \
                      const kiln::u32* order, kiln::u64 ids_dim_size, const kiln::type* inp,      \
                      kiln::type* out, kiln::u64 left_size, kiln::u64 dst_dim_size,               \
                      kiln::u64 right_size) {                                                     \
    kiln::families::index_sum_sorted(ids, order, ids_dim_size, inp, out, left_size, dst_dim_size, \
                                     right_size);                                                 \
  }
#define ROW(root, id, dtypes, kernel) KILN_##dtypes(kernel, root, id)

KILN_EACH_INDEX_ADD_ANY(ROW, INDEX_ANY)
KILN_EACH_SCATTER_ANY(ROW, SCATTER_ANY)
KILN_EACH_SCATTER_ADD_ANY(ROW, SCATTER_ADD_ANY)
KILN_EACH_INDEX_ADD_SORTED(ROW, INDEX_SORTED)
