// What `ptxas -v` says of each kernel, which the cubin itself does not tell: spills.
//
//   log       = { any line | "ptxas info    : Compiling entry function 'NAME' for 'TARGET'"
//                            properties }
//   properties, in any order until the next "Compiling" line:
//     "N bytes stack frame, N bytes spill stores, N bytes spill loads"
//     "ptxas info    : Used N registers, ..., N bytes smem, ..."
//
// A device function that is not inlined has a properties line of its own ("Function properties for
// NAME"); it is not the kernel's. Source: the output of ptxas 11.8 to 13.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

struct PtxasKernel {
  std::string name;
  std::string target;  // "sm_90a"
  std::uint32_t registers = 0;
  std::uint32_t stack_bytes = 0;
  std::uint32_t spill_store_bytes = 0;
  std::uint32_t spill_load_bytes = 0;
};

// In the order of the log. Lines that are not understood are passed over.
std::vector<PtxasKernel> parse_ptxas_log(std::string_view log);

}  // namespace kiln::tools
