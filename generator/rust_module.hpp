// The Rust module: ids, modules and images in the form of candle's crate, and for each kernel a
// type with a typed launch function. It includes the catalog file beside it. It needs no crate,
// only the C interface, libkiln_runtime.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_rust_module(const Catalog& catalog, const Options& options);

// Returns the text of rust_runtime.rs, which wraps the C interface. It is the same in every module.
std::string_view rust_runtime_text();

}  // namespace kiln::generator
