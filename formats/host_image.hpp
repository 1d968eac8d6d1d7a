// Images for this machine's own processor: a shared object that says of itself what it is.
//
//   section .kiln.image    one ImageRecord
//   section .kiln.kernels  one KernelRecord after the other
//
// Both are defined in kernels/device/host_abi.hpp and hold no pointers, so they can be read from
// the file without loading it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/byte_reader.hpp"
#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct HostImage {
  TargetId target;
  int abi_version = 0;
  std::string cpu;                  // "x86-64-v3", "armv8-a"
  std::string sanitizer;            // "", "address", "thread"
  std::vector<KernelInfo> kernels;  // sorted by name
};
Result<HostImage> read_host_image(Bytes file);

// The target alone, by the ImageRecord's first bytes wherever they lie; empty when there is none.
std::optional<TargetId> find_host_target(Bytes file);

}  // namespace kiln
