// Shared by the parts of the manifest's parser: the manifest that is being read, and helpers for
// common values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tools/json/json_reader.hpp"
#include "tools/model/manifest.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

// A manifest while it is parsed. Errors are reported to `reader`.
struct ManifestSource {
  JsonReader& reader;
  const Files& files;
  std::filesystem::path directory;  // base of the manifest's relative paths
  std::filesystem::path target;     // what the manifest is a link to; empty if it is none
  std::size_t suggestions = 0;      // number of searches for similar names
};

class ManifestPart {
 public:
  static constexpr std::size_t kMaxNameLength = 128;

 protected:
  using Need = JsonReader::Need;
  using Empty = JsonReader::Empty;

  explicit ManifestPart(ManifestSource& source) : reader_(source.reader), source_(source) {}

  Located<std::string> identifier(const Json& value, const std::string& what);
  // Returns a path below the manifest's folder in its shortest form. Reports any other path and
  // returns an empty string.
  std::string inner_path(const Json& value, const std::string& what);
  // Explains PathKind::kHidden.
  static constexpr const char* kWhyHidden = "a loop of links, or a folder on the way that is not yours to enter";
  // Reports text with control characters, such as line breaks, because compiler options are also
  // stored and shown as lines.
  bool is_one_line(const Json& item, const std::string& what, const std::string& text);
  // Adds a hint with the file or folder that was probably meant, and a note if the manifest is a
  // link. Each search reads a folder, so only the first few errors get them.
  void suggest(const std::filesystem::path& missing, PathKind wanted, Error& error);

  JsonReader& reader_;
  ManifestSource& source_;

 private:
  // Returns the existing path whose names are nearest to those of `missing`.
  std::string neighbour(const std::filesystem::path& missing, PathKind wanted) const;
};

}  // namespace kiln::tools
