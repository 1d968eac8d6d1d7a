// The catalog file, <stem>.kiln (formats/catalog_file.hpp has its format).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/model/catalog.hpp"

namespace kiln::generator {

struct CatalogFileText {
  std::string bytes;
  std::vector<std::uint64_t> offsets;  // offsets of the images, in the catalog's order
};

// The file holds `stored` of each image.
CatalogFileText write_catalog_file(const tools::Catalog& catalog, std::uint32_t minimum_runtime);

}  // namespace kiln::generator
