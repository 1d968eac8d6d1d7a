// The names that a header and its assembly file share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "generator/generate.hpp"

namespace kiln::generator {

std::string_view enumerator(Compression compression);  // "kNone", "kZstd"

std::string stem(const Options& options);           // "kernels" of "kernels.hpp"
std::string short_digest(const Digest& digest);     // 16 hexadecimal digits

// The inline namespace around the constants of a module's kernels: its name, unless a kernel, or a
// namespace of the sources, is called so. Kernels keep theirs: a module `saxpy` with a kernel `saxpy` is the usual case.
std::string namespace_name(const Catalog& catalog, const Module& module);

// What an image is for: "gfx90a:xnack+", "compute_80"; of source "source".
std::string target_name(const Artifact& image);

// Its bytes once decompressed: the driver reads PTX as a C string, which ends with a NUL.
std::size_t decompressed_size(const Artifact& image);

// The byte array of an image, a member of its module's namespace: "gfx1030", and "unit1_gfx1030" in a
// module of several units.
std::string array_name(const Module& module, const Artifact& image);

// The symbol that the assembly file gives it: "kiln_0123456789abcdef_affine_0_gfx1030".
std::string symbol(const Digest& digest, const Module& module, const Artifact& image);

// The file that holds it, relative to the include folder.
std::string blob_path(const Options& options, const Module& module, const Artifact& image);

// What the address of the stored bytes must be a multiple of: the AMD loader uses an uncompressed code
// object in place and wants a page; everything else gets a cache line.
unsigned alignment(const Artifact& image);

}  // namespace kiln::generator
