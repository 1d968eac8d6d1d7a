// How a row of a table becomes an exported kernel. Parameters stand in the order of
// kernels/abi.json.
#pragma once

#include "device/arithmetic.cuh"
#include "device/dtypes.cuh"
#include "device/platform.cuh"

#define KILN_LIST(...) __VA_ARGS__

// An elementwise kernel: `function` of `inputs` (in brackets) into `out`, element by element; then
// its parameters after the three of a strided view (device/index.cuh). `paths` says how it reads
// views (families/elementwise.cuh).
#define KILN_ELEMENTWISE(name, cost, paths, function, inputs, ...)                             \
  inline constexpr kiln::u32 kSharing_##name =                                                 \
      kiln::tuning::sharing(#name, kiln::device::kArchitecture);                               \
  inline constexpr kiln::tuning::Cost kCost_##name =                                           \
      kiln::tuning::cost_of(#name, kiln::tuning::Cost::k##cost);                               \
  KILN_BOUNDED_KERNEL(1024, kSharing_##name, name, kiln::u64 numel,                            \
                      kiln::u64 num_dims, const kiln::u64* info, __VA_ARGS__) {                \
    kiln::families::elementwise<kCost_##name, kiln::families::Paths::k##paths,                 \
                                kSharing_##name>(numel, num_dims, info, out, function,         \
                                                 KILN_LIST inputs);                            \
  }
