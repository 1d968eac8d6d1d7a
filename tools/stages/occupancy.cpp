#include "tools/stages/occupancy.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kiln::tools {
namespace {

std::uint32_t rounded_up(std::uint32_t number, std::uint32_t step) {
  return (number + step - 1) / step * step;
}

// The register file of an SM and its allocation unit have been the same since compute capability
// 5.0. Source: CUDA C++ Programming Guide, Technical Specifications per Compute Capability.
Occupancy nvidia_occupancy(int capability, std::uint32_t registers) {
  constexpr std::uint32_t kRegisters = 65536, kUnit = 256, kLanes = 32;
  std::uint32_t max_warps = 64;
  if (capability == 75) max_warps = 32;
  if (capability == 86 || capability == 87 || capability == 88 || capability == 89 ||
      capability >= 110) {
    max_warps = 48;
  }
  const std::uint32_t registers_per_warp = rounded_up(std::max(1u, registers) * kLanes, kUnit);
  return {std::min(max_warps, kRegisters / registers_per_warp / 4 * 4), max_warps};
}

// The limits of one SIMD: vector registers per lane, their allocation unit, and the maximum number
// of waves. Source: LLVM, AMDGPUBaseInfo: getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU.
struct Simd {
  std::uint32_t registers, unit, waves;
};

Simd simd_of(std::string_view processor, bool is_wave64) {
  static constexpr std::array<std::string_view, 6> kLarge = {"gfx1100", "gfx1101", "gfx1151",
                                                             "gfx1200", "gfx1201", "gfx12-generic"};
  if (processor == "gfx90a" || processor.starts_with("gfx94") || processor.starts_with("gfx95") ||
      processor == "gfx9-4-generic") {
    return {512, 8, 8};
  }
  if (processor.starts_with("gfx9") || !processor.starts_with("gfx1")) return {256, 4, 10};
  const std::uint32_t halves = is_wave64 ? 2 : 1;
  const bool is_large = std::ranges::find(kLarge, processor) != kLarge.end();
  if (is_large) return {1536 / halves, 24 / halves, 16};
  const bool is_first = processor.starts_with("gfx101") || processor == "gfx10-1-generic";
  if (is_first) return {1024 / halves, 8 / halves, 20};
  return {1024 / halves, 16 / halves, 16};
}

}  // namespace

std::optional<Occupancy> occupancy(const TargetId& target, const KernelInfo& kernel) {
  if (!kernel.registers) return std::nullopt;
  if (target.kind == TargetKind::kCubin) {
    return nvidia_occupancy(target.compute_capability(), *kernel.registers);
  }
  if (target.kind != TargetKind::kAmd) return std::nullopt;
  const Simd simd = simd_of(target.processor, kernel.wave_width.value_or(64) == 64);
  const std::uint32_t registers_per_wave = rounded_up(std::max(1u, *kernel.registers), simd.unit);
  return Occupancy{std::clamp(simd.registers / registers_per_wave, 1u, simd.waves), simd.waves};
}

}  // namespace kiln::tools
