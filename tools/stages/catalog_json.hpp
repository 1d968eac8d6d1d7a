// kiln.json and `kiln inspect --json`: writes builds and inspected files as JSON and reads them
// back.
//
// docs/INSPECT.md describes the format. It is stable: fields are added, never renamed. It contains
// no absolute path and no time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"
#include "tools/stages/inspect.hpp"

namespace kiln::tools {

Json catalog_json(const Catalog& catalog, const std::vector<BundleRecord>& bundles);

// Describes a single file: an image, or a container with its entries.
Json file_json(const InspectedFile& file);

// The description of an image for users. Made from either kind of document.
struct ImageSummary {
  std::string module;  // empty if unknown
  std::string entry;   // name in a container
  std::string path;    // path in a build
  std::uint64_t size = 0;
  Digest digest;  // only in a build
  ImageInfo info;
  std::vector<std::string> signatures;  // by kernel: "(u64 numel, const f32* inp, 8 bytes)"
};
// Returns the images of a document from catalog_json() or file_json(). `file` names the document in
// errors.
Result<std::vector<ImageSummary>> read_images(const Json& document, std::string_view file);

Parameter read_parameter(const Json& object);

std::string_view to_string(ParameterKind kind);  // "pointer", "value", "unknown"

}  // namespace kiln::tools
