// occupancy: how many waves of a kernel fit on a processor, by its registers alone.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln::tools {

struct Occupancy {
  std::uint32_t waves = 0, most = 0;  // NVIDIA: warps of an SM; AMD: waves of a SIMD
};

// Nothing where the image does not tell the registers, or the processor is not known here. Blocks
// and their shared memory may allow less.
std::optional<Occupancy> occupancy(const TargetId& target, const KernelInfo& kernel);

}  // namespace kiln::tools
