// ternary: out[i] = ids[i] != 0 ? t[i] : f[i]. The bits of an element are copied unchanged.
#include "device/dtypes.cuh"
#include "families/elements.cuh"
#include "tables/ternary.hpp"

#define WHERE(suffix, type, condition)                                                             \
  inline constexpr kiln::u32 kOccupancy_##condition##_##suffix =                                   \
      kiln::tuning::occupancy("where_" #condition "_" #suffix, kiln::device::kArchitecture);       \
  KILN_BOUNDED_KERNEL(1024, kOccupancy_##condition##_##suffix, where_##condition##_##suffix,       \
                      kiln::u64 numel, kiln::u64 num_dims, const kiln::u64* info,                  \
                      const kiln::condition* ids, const kiln::type* t, const kiln::type* f,        \
                      kiln::type* out) {                                                           \
    kiln::families::choose_elements<kOccupancy_##condition##_##suffix>(numel, num_dims, info, out, \
                                                                       ids, t, f);                 \
  }
#define ROW(condition, dtypes) KILN_##dtypes(WHERE, condition)

KILN_EACH_WHERE(ROW)
