// The compiler options of a manifest and of each of its modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/stages/manifest_part.hpp"

namespace kiln::tools {

class CompileOptionsPart : public ManifestPart {
 public:
  CompileOptionsPart(ManifestSource& source, CompileOptions& options)
      : ManifestPart(source), options_(options) {}

  // Returns the keys of the options, all optional. This part must outlive the fields, whose parsers
  // fill in the options.
  std::vector<JsonReader::Field> fields();

 private:
  void include_directories(const Json& value);
  void defines(const Json& value);
  JsonReader::Field strings(std::string_view key, std::vector<Located<std::string>>& into);

  CompileOptions& options_;
};

}  // namespace kiln::tools
