// sbom: describes a build as a software bill of materials, SPDX 2.3 in JSON: images, sources, tools
// and linked libraries, with digests. Equal catalogs give equal bytes, so its time is fixed.
//
// Everything is a package and nothing a file, because SPDX 2.3 requires a SHA-1 of every file.
// Source: The Software Package Data Exchange Specification, version 2.3 (spdx.github.io/spdx-spec).
#pragma once

#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

Json sbom_json(const Catalog& catalog);

}  // namespace kiln::tools
