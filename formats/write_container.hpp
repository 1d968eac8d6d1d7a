// Writes containers out of the entries of others, as the vendors' own tools would have written
// them.
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

// clang-offload-bundler -type=o -bundle-align=4096: entries in the order given.
std::string write_offload_bundle(const std::vector<BundleEntry>& entries);

struct FatbinEntry {
  std::string target;  // "sm_90"
  Bytes bytes;         // its header and payload as they stand
};

// The entries of one fat binary whose payloads are not compressed. Errors: kInvalidInput.
Result<std::vector<FatbinEntry>> fatbin_entries(Bytes file);

// fatbinary --compress=false: entries in the order given.
std::string write_fatbin(const std::vector<FatbinEntry>& entries);

}  // namespace kiln
