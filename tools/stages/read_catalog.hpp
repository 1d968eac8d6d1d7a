// read_catalog: reads kiln.json back into the catalog that it was written from.
#pragma once

#include <string_view>
#include <vector>

#include "kiln/result.hpp"
#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct CatalogRecord {
  Catalog catalog;  // its images have no bytes yet
  std::vector<BundleRecord> bundles;
};

// Paths are relative to the build's folder. `file` names the document in errors. The error is
// kInvalidInput if the document is not a catalog or was written by a kiln that recorded less.
Result<CatalogRecord> read_catalog(const Json& document, std::string_view file);

}  // namespace kiln::tools
