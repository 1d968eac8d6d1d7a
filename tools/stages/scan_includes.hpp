// scan_includes: finds the local headers that a source includes, directly and indirectly.
//
// Local means below the manifest's folder. Includes are searched as compilers do: "x" beside the
// including file and then in the include directories, <x> only in the include directories. Conditions
// are not evaluated: every #include counts, and so does every header that a __has_include finds. An
// `#include NAME` counts for each header that a `#define NAME "x"` of any reached file gives it.
// Includes that are not found are left to the compilers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kiln/result.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

enum class IncludeForm : std::uint8_t { kInclude, kIncludeNext, kHasInclude };

// One #include directive or __has_include.
struct Include {
  std::string path;        // or the name of a macro
  bool is_quoted = false;  // "x", not <x>
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // of the opening quote
  IncludeForm form = IncludeForm::kInclude;
};

// A macro that may name a header.
struct HeaderMacro {
  std::string name;
  std::string value;  // "x" or <x> with the quotes, or the name of another macro
};

struct FoundIncludes {
  std::vector<Include> includes;
  std::vector<Include> computed;  // by a macro, whose name is the path
  std::vector<HeaderMacro> macros;
};

// Returns the includes of a C++ text, in order. Understands comments, strings and spliced lines.
FoundIncludes find_includes(std::string_view text);

// Files that a source depends on, sorted.
struct SourceFiles {
  // The source and its local headers, relative to the manifest's folder.
  std::vector<std::string> local;
  // Files outside of the manifest's folder that a __has_include of a local file finds in the include
  // directories: absolute, or relative to the manifest's folder.
  std::vector<std::string> outside;
};

// Scans the files of one manifest. Reads each file once and resolves each include once.
class IncludeScanner {
 public:
  IncludeScanner(const Manifest& manifest, const Files& files)
      : manifest_(manifest), files_(files) {}

  // Returns the files that a source reaches. `defines` are macros of the command line: NAME="x". The
  // error (kInvalidInput, with its place) reports an explicitly relative include ("./x", "../x")
  // that does not exist or leaves the manifest's folder.
  Result<SourceFiles> closure(const std::string& source,
                              const std::vector<std::string>& directories,
                              const std::vector<std::string>& defines = {});

 private:
  using Paths = std::vector<std::string>;
  using Directories = std::vector<std::string>;

  // Returns the local headers that a file includes, found through these directories.
  Result<const Paths*> headers_of(const std::string& file, const Directories& directories);
  // Returns the local headers that the files include by macros.
  Result<Paths> computed_headers(const std::set<std::string>& files, const Directories& directories,
                                 const Paths& defines);
  Result<Paths> outside_files(const std::set<std::string>& files, const Directories& directories);
  Result<const FoundIncludes*> includes_of(const std::string& file);
  Paths find(const std::string& from, const Include& include, const Directories& directories);
  Result<void> check_found(const Paths& found, const std::string& from,
                           const Include& include) const;
  bool is_file(const std::string& path);

  const Manifest& manifest_;
  const Files& files_;
  std::unordered_map<std::string, FoundIncludes> includes_;
  std::map<Directories, std::unordered_map<std::string, Paths>> headers_;
  std::unordered_map<std::string, bool> is_file_;  // by path
};

}  // namespace kiln::tools
