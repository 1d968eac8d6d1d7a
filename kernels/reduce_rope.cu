// reduce: rotary position embedding.
#include "device/export.cuh"
#include "families/rope.cuh"
#include "tables/reduce.hpp"

#define ROPE_NEIGHBOURS(suffix, type, root)                                                   \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, const kiln::type* cos, \
                      const kiln::type* sin, kiln::type* dst, kiln::u32 bh, kiln::u32 td,     \
                      kiln::u32 stride_b) {                                                   \
    kiln::families::rope<kiln::families::Pairing::kNeighbours>(src, cos, sin, dst, bh, td, 0, \
                                                               stride_b);                     \
  }
#define ROPE_HALVES(suffix, type, root)                                                       \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, const kiln::type* cos, \
                      const kiln::type* sin, kiln::type* dst, kiln::u32 bh, kiln::u32 td,     \
                      kiln::u32 d, kiln::u32 stride_b) {                                      \
    kiln::families::rope<kiln::families::Pairing::kHalves>(src, cos, sin, dst, bh, td, d,     \
                                                           stride_b);                         \
  }
#define ROPE_TOKENS_FIRST(suffix, type, root)                                                 \
  KILN_BOUNDED_KERNEL(1024, 2, root##_##suffix, const kiln::type* src, const kiln::type* cos, \
                      const kiln::type* sin, kiln::type* dst, kiln::u32 b, kiln::u32 t,       \
                      kiln::u32 h, kiln::u32 d, kiln::u32 stride_b) {                         \
    kiln::families::rope_tokens_first(src, cos, sin, dst, b, t, h, d, stride_b);              \
  }
#define EACH_ROW_OPERATION(root, dtypes, kernel) KILN_##dtypes(kernel, root)

KILN_EACH_ROPE_NEIGHBOURS(EACH_ROW_OPERATION, ROPE_NEIGHBOURS)
KILN_EACH_ROPE_HALVES(EACH_ROW_OPERATION, ROPE_HALVES)
KILN_EACH_ROPE_TOKENS_FIRST(EACH_ROW_OPERATION, ROPE_TOKENS_FIRST)
