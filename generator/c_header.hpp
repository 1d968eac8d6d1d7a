// The C header: the catalog file's bytes, a table of its images, and for each kernel a function
// that loads it and a typed function that launches it.
#pragma once

#include <string>

#include "generator/catalog_file.hpp"
#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_c_header(const Catalog& catalog, const Options& options,
                           const CatalogFileText& file);

// These functions return the source file of Storage::kSplit and the assembly file of Storage::kAsm,
// with the bytes. The bytes are weak and hidden, so that a program that links them twice, through
// two libraries, keeps one copy.
std::string write_c_source(const Options& options, const CatalogFileText& file);
std::string write_c_assembly(const Options& options, const CatalogFileText& file);

}  // namespace kiln::generator
