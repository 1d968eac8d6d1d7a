// publish: makes every file that is written from a complete catalog.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "formats/image_sources.hpp"
#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"
#include "tools/stages/embed.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {

struct PublishedFile {
  std::string path, text;  // as in GeneratedFile
  Digest digest;           // of the text
};

// Returns the files of a build. Paths are relative to the out folder. kiln.json comes last, so that
// if it exists, every file that it lists exists. `sources` says for each module what the images in
// the folder were built from.
// `store` is passed to embed(). Errors are those of embed().
Result<std::vector<PublishedFile>> publish(Catalog catalog, const std::vector<BundleRecord>& bundles,
                                           const std::map<std::string, ImageSources>& sources, CacheStore* store);

// Returns the path of the text that a unit is compiled from, in a build that embeds it.
std::string source_bundle_path(const std::string& module, std::size_t unit);

// Returns the path of the checksums of all files in include/. Each line is "<digest>  <file>" with
// a SHA-256, as sha256sum reads it.
std::string checksums_path(const EmbedOptions& embed);

struct Checksum {
  std::string path;  // relative to the out folder
  Digest digest;
};

// Reads a line of the checksums. Returns nothing if it has another form, or names a file that is not
// below include/.
std::optional<Checksum> read_checksum(std::string_view line);

// Returns the path of the stamp file beside the header. A depfile names it as its target. Its time
// is that of the last build that wrote a depfile; the header keeps its time while its content stays
// the same.
std::string stamp_path(const EmbedOptions& embed);

// Returns the paths of the files for programs: headers, their sources, modules, catalog files. The
// first is the one that a program includes or opens.
std::vector<std::string> emitted_files(const EmbedOptions& embed);

// Returns the paths of kiln.json, the files for programs, and the notices, bill of materials and
// checksums beside them. Excludes files whose number depends on the images.
std::vector<std::string> published_files(const EmbedOptions& embed);

}  // namespace kiln::tools
