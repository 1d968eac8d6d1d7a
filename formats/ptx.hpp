// PTX: NVIDIA's assembly text, which the driver compiles for the present device.
//
//   .version major.minor         the PTX ISA; a driver refuses a newer one than its own
//   .target sm_90a, options      what the text asks of the device
//   .address_size 64
//   .visible .entry NAME ( .param TYPE NAME, ... ) .maxntid X, Y, Z ... { body }
//
//   parameter = .param [.align N] .u64|.f32|... [.ptr [space] [.align N]] NAME [ "[" COUNT "]" ]
//
//   Each parameter starts at the next multiple of its alignment, which is its type's size unless
//   .align sets it. `.ptr` marks a pointer. Compilers for 10.0 and later write `.ptr`; older ones
//   write a plain .u64 for a pointer. An array or a float is always a value.
//
// Spec: NVIDIA, "Parallel Thread Execution ISA", sections Directives and Kernel Function
// Parameters.
//
// The reader goes over the tokens once. It does not check instructions; the driver does.
#pragma once

#include <string_view>
#include <vector>

#include "formats/byte_reader.hpp"
#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct Ptx {
  TargetId target;                  // "compute_90a" for .target sm_90a
  int isa = 0;                      // 10 * major + minor
  std::vector<KernelInfo> kernels;  // kernels with a body, sorted by name
};

// Reads the text up to a NUL or its end. Errors have line and column.
Result<Ptx> read_ptx(std::string_view text);

// Checks that the text is not cut short: that it ends outside of a body, a list, a directive, a
// string and a comment. A text that lacks whole kernels at its end passes.
Result<void> check_ptx_end(std::string_view text);

// True if the text begins with a .version directive, apart from white space and comments.
bool is_ptx(std::string_view text);

}  // namespace kiln
