// sbom: a build as a software bill of materials, SPDX 2.3 in JSON: images, sources, tools and what the
// compilers linked, with digests. The same catalog gives the same bytes: its time is that of no clock.
//
// Everything is a package, and none a file, because a file of SPDX 2.3 must have a SHA-1.
// Source: The Software Package Data Exchange Specification, version 2.3 (spdx.github.io/spdx-spec).
#pragma once

#include "tools/json/json.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

Json sbom_json(const Catalog& catalog);

}  // namespace kiln::tools
