// Rotary position embedding, for f16 bf16 f32 f64. Each pair (p, q) of a head becomes
// (p * cos - q * sin, p * sin + q * cos).
//
// The dims are b = batches, h = heads, t = tokens and d = head_size, which is even.
#pragma once

#include "kiln/ops/gpu.hpp"
#include "kiln/ops/launch.hpp"

namespace kiln::ops {

enum class RopeKind : std::uint8_t {
  kNeighbours,         // rope_i: src is (b, h, t, d), pairs are (2i, 2i + 1)
  kHalves,             // rope: src is (b, h, t, d), pairs are (i, i + d/2)
  kHalvesTokensFirst,  // rope_thd: src is (b, t, h, d), pairs are (i, i + d/2)
};

enum class RopeTables : std::uint8_t {
  kShared,    // cos and sin are (t, d/2)
  kPerBatch,  // cos and sin are (b, t, d/2)
};

// All operands are row-major contiguous. `dst` has the shape of `src`, and may be `src`.
struct Rope {
  RopeKind kind = RopeKind::kHalves;
  DType dtype = DType::kF32;
  std::size_t batches = 1, heads = 1, tokens = 1, head_size = 2;
  RopeTables tables = RopeTables::kShared;
  const void* src = nullptr;
  const void* cos = nullptr;
  const void* sin = nullptr;
  void* dst = nullptr;
  Geometry geometry = Geometry::kOwn;
};

// Errors (kInvalidInput) name the shape or the dtype that no kernel takes.
Result<Launch> plan(const Rope& call, const Gpu& gpu = {});

}  // namespace kiln::ops
