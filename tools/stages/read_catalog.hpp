// read_catalog: kiln.json -> the catalog that it was written from.
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

// Paths are those of files below the build's folder. `file` names the document in errors
// (kInvalidInput): it is no catalog, or was written by a kiln that kept less in it.
Result<CatalogRecord> read_catalog(const Json& document, std::string_view file);

}  // namespace kiln::tools
