// The numbers of a kernel: their names in kiln.json, and how a catalog is checked against an image.
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
  bool is_printed = false;  // for a cubin, it may be known only from ptxas's output
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

// Adds to `image` the numbers that the catalog of its build has from the compiler's output. Returns
// the first of the remaining numbers that differs, such as "kernel 'scale': registers is 40, and 12
// in the catalog", or an empty string. Both must have the same kernels.
std::string add_printed_numbers(const ImageInfo& catalog, ImageInfo& image);

}  // namespace kiln::tools
