// The bytes of an embedded image, decompressed where they are stored compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// The page that drivers map code objects by.
inline constexpr std::size_t kImageAlignment = 4096;

struct AlignedDelete {
  void operator()(std::byte* bytes) const {
    ::operator delete[](bytes, std::align_val_t{kImageAlignment});
  }
};

// `bytes` points into the catalog, or into `storage`.
struct ImageBytes {
  std::span<const std::byte> bytes;
  std::unique_ptr<std::byte[], AlignedDelete> storage;
};

// Errors: kInvalidInput for bytes that are not what the catalog says; kUnavailable for a compressed
// image in a runtime that was built without zstd; kEnvironment when memory runs out.
Result<ImageBytes> unpack_image(const ImageEntry& image);

// A copy of an image with a NUL after it, which PTX text needs; a NUL that is there is not doubled.
ImageBytes copy_image(std::span<const std::byte> image);

}  // namespace kiln::runtime
