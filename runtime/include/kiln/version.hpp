// The version of this kiln, and of the catalog layout that its generated headers use.
#pragma once

#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0

// One number that grows with every release, for the preprocessor and static_assert.
#define KILN_VERSION (KILN_VERSION_MAJOR * 10000 + KILN_VERSION_MINOR * 100 + KILN_VERSION_PATCH)

// The layout of the structs in <kiln/catalog.hpp>. A generated header states the layout that it was
// written for, and does not compile with any other.
#define KILN_CATALOG_FORMAT 3
