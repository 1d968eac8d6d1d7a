// The bytes of an embedded image, decompressed if needed.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// Drivers map code objects in pages of this size.
inline constexpr std::size_t kImageAlignment = 4096;

struct AlignedDelete {
  void operator()(std::byte* bytes) const {
    ::operator delete[](bytes, std::align_val_t{kImageAlignment});
  }
};

// `bytes` points into the catalog or into `storage`.
struct ImageBytes {
  std::span<const std::byte> bytes;
  std::unique_ptr<std::byte[], AlignedDelete> storage;
};

// Errors: kInvalidInput if the bytes are not what the catalog says, kUnavailable for a compressed
// image if the runtime was built without zstd, and kEnvironment if memory runs out.
Result<ImageBytes> unpack_image(const ImageEntry& image);

// Copies an image. PTX text gets the NUL that it needs, unless it has one.
ImageBytes copy_image(std::span<const std::byte> image, ImageFormat format);

}  // namespace kiln::runtime
