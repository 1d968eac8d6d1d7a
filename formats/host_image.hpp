// Images for this machine's own processor: shared objects that describe themselves.
//
//   section .kiln.image    one ImageRecord
//   section .kiln.kernels  one KernelRecord after the other
//
// kernels/device/host_abi.hpp defines both. They hold no pointers, so they can be read without
// loading the file.
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

// Finds the target alone, by searching for the first bytes of an ImageRecord. Empty if there is
// none.
std::optional<TargetId> find_host_target(Bytes file);

}  // namespace kiln
