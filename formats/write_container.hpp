// Writes containers from the entries of others, exactly as the vendors' tools would.
#pragma once

#include <string>
#include <vector>

#include "formats/image.hpp"
#include "formats/target_id.hpp"

namespace kiln {

struct BundleEntry {
  std::string name;  // "hipv4-amdgcn-amd-amdhsa--gfx1100"
  Bytes bytes;       // empty for the host's
};

// Like clang-offload-bundler -type=o -bundle-align=4096. Entries keep the given order.
std::string write_offload_bundle(const std::vector<BundleEntry>& entries);

struct FatbinEntry {
  std::string target;  // "sm_90"
  Bytes bytes;         // header and payload, unchanged
};

// Returns the entries of a fat binary with uncompressed payloads. Errors: kInvalidInput.
Result<std::vector<FatbinEntry>> fatbin_entries(Bytes file);

// Like fatbinary --compress=false. Entries keep the given order.
std::string write_fatbin(const std::vector<FatbinEntry>& entries);

}  // namespace kiln
