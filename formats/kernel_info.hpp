// The information that an image of any format contains about one of its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/catalog.hpp"

namespace kiln {

// A field is empty if the format does not tell it.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;                    // without hidden AMD arguments
  std::optional<std::uint32_t> registers;               // vector registers per lane (AMD: VGPRs)
  std::optional<std::uint32_t> scalar_registers;        // AMD: SGPRs
  std::optional<std::uint32_t> accumulation_registers;  // AMD CDNA: AGPRs
  std::optional<std::uint32_t> stack_bytes;             // per thread: NVIDIA frame, AMD scratch
  std::optional<std::uint32_t> shared_bytes;            // static shared memory, or LDS
  std::optional<std::uint32_t> constant_bytes;  // NVIDIA: kernel constants with the parameters
  std::optional<std::uint32_t> wave_width;
  std::optional<std::uint32_t> max_threads;    // per block
  std::optional<std::uint32_t> spill_stores;   // NVIDIA: bytes; AMD: VGPRs, to scratch
  std::optional<std::uint32_t> spill_loads;    // NVIDIA: bytes
  std::optional<std::uint32_t> scalar_spills;  // AMD: SGPRs, to lanes of a VGPR or to scratch
};

}  // namespace kiln
