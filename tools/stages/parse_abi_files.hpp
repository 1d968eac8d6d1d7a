// The abi files that a manifest names: each is read, and what they list of one module is put
// together.
#pragma once

#include <string>
#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

class AbiFilesPart : public ManifestPart {
 public:
  // Of the manifest it fills `abi_paths`, `abi` and `read`.
  AbiFilesPart(ManifestSource& source, Manifest& manifest)
      : ManifestPart(source), manifest_(manifest) {}

  // One path, or a list of them.
  void parse(const Json& value);
  // A module that no abi file knows would go unchecked. `partial` says where 'partial' stands.
  void check_modules(const std::vector<Location>& partial);

 private:
  void file(const Json& value, const std::string& what);
  void add_kernels(std::vector<AbiKernel>& known, std::vector<AbiKernel> more);

  Manifest& manifest_;
  JsonReader::Listed listed_;
};

}  // namespace kiln::tools
