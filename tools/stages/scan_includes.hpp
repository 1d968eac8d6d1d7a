// scan_includes: a source -> the local headers that it includes, and those that they include.
//
// Local is what lies under the manifest's folder. An include is looked for as compilers do: "x" beside
// the file that includes it and then in the include directories, <x> in the include directories alone.
// What is not found there is the toolchain's, and left to the compilers; so is an include spelt by a
// macro. Conditions are not evaluated: what might be included is taken as included.
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

// One #include of a text.
struct Include {
  std::string path;
  bool is_quoted = false;  // "x", not <x>
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // of the opening quote
};

// The includes of a C++ text, in order; comments, strings and spliced lines understood.
std::vector<Include> find_includes(std::string_view text);

// Scans the files of one manifest; reads each once, and looks for each include once.
class IncludeScanner {
 public:
  IncludeScanner(const Manifest& manifest, const Files& files)
      : manifest_(manifest), files_(files) {}

  // The source and all local headers that it needs, relative to the manifest's folder, sorted. The
  // error (kInvalidInput, with its place) tells of an include by a path of its own ("./x", "../x")
  // that does not exist or leaves the manifest's folder.
  Result<std::vector<std::string>> closure(
      const std::string& source, const std::vector<std::string>& directories);

 private:
  using Directories = std::vector<std::string>;

  // The local headers that a file includes, found by way of these directories.
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
  std::unordered_map<std::string, bool> files_there_;
};

}  // namespace kiln::tools
