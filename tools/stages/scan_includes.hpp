// scan_includes: finds the local headers that a source includes, directly and indirectly.
//
// Local means below the manifest's folder. Includes are searched as compilers do: "x" beside the
// including file and then in the include directories, <x> only in the include directories. Includes
// that are not found, or whose path comes from a macro, are left to the compilers. Conditions are
// not evaluated: every #include counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// One #include directive.
struct Include {
  std::string path;
  bool is_quoted = false;  // "x", not <x>
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // of the opening quote
};

// Returns the includes of a C++ text, in order. Understands comments, strings and spliced lines.
std::vector<Include> find_includes(std::string_view text);

// Scans the files of one manifest. Reads each file once and resolves each include once.
class IncludeScanner {
 public:
  IncludeScanner(const Manifest& manifest, const Files& files)
      : manifest_(manifest), files_(files) {}

  // Returns the source and all local headers that it needs, relative to the manifest's folder,
  // sorted. The error (kInvalidInput, with its place) reports an explicitly relative include
  // ("./x", "../x") that does not exist or leaves the manifest's folder.
  Result<std::vector<std::string>> closure(
      const std::string& source, const std::vector<std::string>& directories);

 private:
  using Directories = std::vector<std::string>;

  // Returns the local headers that a file includes, found through these directories.
  Result<const std::vector<std::string>*> headers_of(const std::string& file,
                                                     const Directories& directories);
  Result<const std::vector<Include>*> includes_of(const std::string& file);
  Result<std::string> resolve(const std::string& from, const Include& include,
                              const Directories& directories);
  bool is_file(const std::string& path);

  const Manifest& manifest_;
  const Files& files_;
  std::unordered_map<std::string, std::vector<Include>> includes_;
  std::map<Directories, std::unordered_map<std::string, std::vector<std::string>>> headers_;
  std::unordered_map<std::string, bool> is_file_;  // by path
};

}  // namespace kiln::tools
