// kiln.json and `kiln inspect --json`: what was built or found, as JSON, and back.
//
// The format is described in docs/INSPECT.md and is stable: fields are added, never renamed. No
// absolute path and no time is in it.
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

// Of a single file: an image, or a container with its entries.
Json file_json(const InspectedFile& file);

// What a person is shown of an image, from either of the above.
struct ImageSummary {
  std::string module;  // empty when not known
  std::string entry;   // of a container
  std::string path;    // of a build
  std::uint64_t size = 0;
  Digest digest;  // of a build
  ImageInfo info;
  std::vector<std::string> signatures;  // by kernel: "(u64 numel, const f32* inp, 8 bytes)"
};
// The images of a document that catalog_json() or file_json() made; `file` names it in errors.
Result<std::vector<ImageSummary>> read_images(const Json& document, std::string_view file);

Parameter read_parameter(const Json& object);

std::string_view to_string(ParameterKind kind);  // "pointer", "value", "unknown"

}  // namespace kiln::tools
