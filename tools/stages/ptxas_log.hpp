// Reads the properties of kernels that `ptxas -v` prints. The cubin itself does not contain the
// number of spills.
//
//   log       = { any line | "ptxas info    : Compiling entry function 'NAME' for 'TARGET'"
//                            properties }
//   properties, in any order until the next "Compiling" line:
//     "N bytes stack frame, N bytes spill stores, N bytes spill loads"
//     "ptxas info    : Used N registers, ..., N bytes smem, ..."
//
// A device function that is not inlined has its own properties line ("Function properties for
// NAME"), which does not belong to the kernel. Source: the output of ptxas 11.8 to 13.0.
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

// Returns the kernels in the order of the log. Unknown lines are skipped.
std::vector<PtxasKernel> parse_ptxas_log(std::string_view log);

// True if `ptxas -v` prints this line for kernels that have nothing wrong.
bool is_ptxas_property(std::string_view line);

}  // namespace kiln::tools
