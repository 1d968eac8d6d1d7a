// The Rust module: ids, modules and images in the shape of candle's crate, and a type for each
// kernel that launches it with arguments of its parameters' types. It includes the catalog file
// beside it, and needs no crate: the C interface, libkiln_runtime, serves it.
#pragma once

#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string write_rust_module(const Catalog& catalog, const Options& options);

// rust_runtime.rs: what wraps the C interface, the same in every module.
std::string_view rust_runtime_text();

}  // namespace kiln::generator
