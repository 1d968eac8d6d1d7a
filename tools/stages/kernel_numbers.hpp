// The numbers of a kernel: their names in kiln.json, and how what it tells is held to an image.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/image.hpp"

namespace kiln::tools {

struct KernelNumber {
  std::string_view key;
  std::optional<std::uint32_t> KernelInfo::*member;
  bool is_printed = false;  // of a cubin, ptxas may say it where the image does not
};
inline constexpr std::array<KernelNumber, 11> kKernelNumbers = {{
    {"registers", &KernelInfo::registers, true},
    {"scalar_registers", &KernelInfo::scalar_registers},
    {"accumulation_registers", &KernelInfo::accumulation_registers},
    {"stack_bytes", &KernelInfo::stack_bytes, true},
    {"shared_bytes", &KernelInfo::shared_bytes},
    {"constant_bytes", &KernelInfo::constant_bytes},
    {"wave_width", &KernelInfo::wave_width},
    {"max_threads", &KernelInfo::max_threads},
    {"spill_stores", &KernelInfo::spill_stores, true},
    {"spill_loads", &KernelInfo::spill_loads, true},
    {"scalar_spills", &KernelInfo::scalar_spills},
}};

// Adds to `image` what the catalog of its build has from the compiler's output. The first other number that
// differs: "kernel 'scale': registers is 40, and 12 in the catalog"; empty where there is none. Both have the
// same kernels.
std::string add_printed_numbers(const ImageInfo& catalog, ImageInfo& image);

}  // namespace kiln::tools
