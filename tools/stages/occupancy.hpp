// occupancy: how many waves of a kernel fit on a processor, as far as registers limit it.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln::tools {

struct Occupancy {
  std::uint32_t waves = 0, max_waves = 0;  // NVIDIA: warps per SM; AMD: waves per SIMD
};

// Returns nothing if the image does not tell its registers or the processor is unknown. Block size
// and shared memory may limit the occupancy further.
std::optional<Occupancy> occupancy(const TargetId& target, const KernelInfo& kernel);

}  // namespace kiln::tools
