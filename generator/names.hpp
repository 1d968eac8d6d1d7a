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

// Returns the inline namespace of the constants of a module's kernels. It is the module's name,
// unless a kernel or a namespace of the sources has that name. Kernels keep their names: a module
// `saxpy` with a kernel `saxpy` is common.
std::string namespace_name(const Catalog& catalog, const Module& module);

// Returns the target of an image: "gfx90a:xnack+", "compute_80", or "source".
std::string target_name(const Artifact& image);

// Returns the size of the image after decompression. PTX has a terminating NUL, because the driver
// reads it as a C string.
std::size_t decompressed_size(const Artifact& image);

// Returns the byte array of an image in its module's namespace: "gfx1030", or "unit1_gfx1030" in a
// module with several units.
std::string array_name(const Module& module, const Artifact& image);

// Returns the image's symbol in the assembly file: "kiln_0123456789abcdef_affine_0_gfx1030".
std::string symbol(const Digest& digest, const Module& module, const Artifact& image);

// Returns the file that holds the image, relative to the include folder.
std::string blob_path(const Options& options, const Module& module, const Artifact& image);

// Alignment of the stored bytes. The AMD loader uses an uncompressed code object in place and needs
// a page; everything else gets a cache line.
unsigned alignment(const Artifact& image);

}  // namespace kiln::generator
