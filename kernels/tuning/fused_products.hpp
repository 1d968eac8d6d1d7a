// Parameters of kiln's own product kernels. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// The type of activations or results.
enum FloatType : unsigned { kFloatF32, kFloatF16, kFloatBf16 };

// Tasks begin to end - 1 of an order (rank_experts), all of one expert.
struct ExpertTile {
  unsigned expert, begin, end;
};

// The place of a task that has no expert.
inline constexpr unsigned kNoPlace = ~0u;

}  // namespace kiln::tuning
