// What the parts of a manifest's parser have in common: where they read from, and the values that
// several of them hold.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tools/json/json_reader.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// One manifest while it is read. What is wrong is reported to `reader`.
struct ManifestSource {
  JsonReader& reader;
  const Files& files;
  std::filesystem::path directory;  // what its paths are relative to
  std::size_t suggestions = 0;      // that were looked for in folders
};

class ManifestPart {
 public:
  static constexpr std::size_t kLongestName = 128;

 protected:
  using Need = JsonReader::Need;
  using Empty = JsonReader::Empty;

  explicit ManifestPart(ManifestSource& source) : reader_(source.reader), source_(source) {}

  Located<std::string> identifier(const Json& value, const std::string& what);
  // A path under the manifest's folder in its shortest form; empty, with a report, when it is not.
  std::string inner_path(const Json& value, const std::string& what);
  // Of PathKind::kHidden.
  static constexpr const char* kWhyHidden = "a loop of links, or a folder on the way that is not yours to enter";
  // What compilers are given is also kept and shown as lines.
  bool is_one_line(const Json& item, const std::string& what, const std::string& text);
  // Looks for the file or folder that was meant, a few times only: a folder is read and compared each time.
  void suggest(const std::filesystem::path& missing, PathKind wanted, Error& error);

  JsonReader& reader_;
  ManifestSource& source_;

 private:
  // What is there by the names nearest to those of `missing`.
  std::string neighbour(const std::filesystem::path& missing, PathKind wanted) const;
};

}  // namespace kiln::tools
