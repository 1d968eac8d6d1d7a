// The options for compilers, of a manifest and of each of its modules.
#pragma once

#include <string>
#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

class CompileOptionsPart : public ManifestPart {
 public:
  CompileOptionsPart(ManifestSource& source, CompileOptions& options)
      : ManifestPart(source), options_(options) {}

  void include_directories(const Json& value);
  void defines(const Json& value);
  void flags(const Json& value) { strings(value, "'flags'", options_.flags); }
  void amd_flags(const Json& value) { strings(value, "'amd_flags'", options_.amd_flags); }
  void nvidia_flags(const Json& value) { strings(value, "'nvidia_flags'", options_.nvidia_flags); }
  void host_flags(const Json& value) { strings(value, "'host_flags'", options_.host_flags); }

 private:
  void strings(const Json& value, const std::string& what, std::vector<Located<std::string>>& into);

  CompileOptions& options_;
};

}  // namespace kiln::tools
