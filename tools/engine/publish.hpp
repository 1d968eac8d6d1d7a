// publish: a whole catalog -> every file that is written from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "formats/image_sources.hpp"
#include "kiln/result.hpp"
#include "tools/model/catalog.hpp"
#include "tools/stages/embed.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {

struct PublishedFile {
  std::string path, text;  // as of GeneratedFile
  Digest digest;           // of the text
};

// Paths are relative to the out folder. kiln.json comes last: where there is one, everything that
// it lists is there. `sources` says by module what the images in the folder were built from;
// `store` is embed()'s. Errors: those of embed().
Result<std::vector<PublishedFile>> publish(Catalog catalog, const std::vector<BundleRecord>& bundles,
                                           const std::map<std::string, ImageSources>& sources, CacheStore* store);

// Where the text that a unit is compiled from lies, in a build that embeds it.
std::string source_bundle_path(const std::string& module, std::size_t unit);

// Where the SHA-256 of all that lies in include/ are, a line "<digest>  <file>" each, as sha256sum
// reads it.
std::string checksums_path(const EmbedOptions& embed);

// The paths of what is emitted for programs: headers, their sources, modules, catalog files. The first is the one
// that a program names.
std::vector<std::string> emitted_files(const EmbedOptions& embed);

// The paths of them that programs are built from, kiln.json first; not those whose number depends on the
// images.
std::vector<std::string> published_files(const EmbedOptions& embed);

}  // namespace kiln::tools
