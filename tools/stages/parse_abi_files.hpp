// Reads the abi files that a manifest names and merges what they list for each module.
#pragma once

#include <string>
#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

class AbiFilesPart : public ManifestPart {
 public:
  // Fills `abi_paths`, `abi` and `read` of the manifest.
  AbiFilesPart(ManifestSource& source, Manifest& manifest)
      : ManifestPart(source), manifest_(manifest) {}

  // Parses one path or a list of paths.
  void parse(const Json& value);
  // Reports modules that no abi file lists, because they would not be checked. `partial` has the
  // places of the keys 'partial'.
  void check_modules(const std::vector<Location>& partial);

 private:
  void file(const Json& value, const std::string& what);
  void add_kernels(std::vector<AbiKernel>& known, std::vector<AbiKernel> more);

  Manifest& manifest_;
  JsonReader::Listed listed_;
};

}  // namespace kiln::tools
