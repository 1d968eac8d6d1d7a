#include "runtime/src/unpack_image.hpp"

#include <algorithm>
#include <string>

#include "base/diagnostic.hpp"
#ifdef KILN_RUNTIME_ZSTD
#include "formats/zstd.hpp"
#endif

namespace kiln::runtime {
namespace {

Error damaged(const ImageEntry& image, std::string why) {
  return Error{ErrorCode::kInvalidInput,
               "the stored image '" + std::string(image.target) + "' is damaged: " + std::move(why),
               {},
               {}}
      .hint("these are not the bytes that kiln wrote: build the kernels, then the program, again");
}

// Checks that the enumerators exist. A catalog file is checked when it is opened, the entries of a
// program are not.
Result<void> check_enumerators(const ImageEntry& image) {
  const auto format = static_cast<unsigned>(image.format);
  if (image.format > ImageFormat::kSource) {
    return damaged(image, "its format is " + std::to_string(format) + ", an ImageFormat is 0 to 4");
  }
  const auto compression = static_cast<unsigned>(image.compression);
  if (image.compression > Compression::kZstd) {
    return damaged(
        image, "its compression is " + std::to_string(compression) + ", a Compression is 0 or 1");
  }
  return {};
}

}  // namespace

Result<ImageBytes> unpack_image(const ImageEntry& image) {
  KILN_TRY(check_enumerators(image));
  const std::span stored = std::as_bytes(std::span(image.data, image.stored_size));
  if (image.compression == Compression::kNone) {
    if (image.stored_size != image.size || image.size == 0) {
      return damaged(image, "it has " + std::to_string(image.stored_size) + " bytes, expected " +
                                std::to_string(image.size));
    }
    return ImageBytes{stored, nullptr};
  }
#ifdef KILN_RUNTIME_ZSTD
  ImageBytes unpacked;
  auto* memory = static_cast<std::byte*>(
      ::operator new[](image.size, std::align_val_t{kImageAlignment}, std::nothrow));
  if (memory == nullptr) {
    return Error{ErrorCode::kEnvironment,
                 "no memory for an image of " + std::to_string(image.size) + " bytes",
                 {},
                 {}};
  }
  unpacked.storage.reset(memory);
  if (Result<void> done = zstd_decompress_into(stored, std::span(memory, image.size)); !done) {
    return damaged(image, done.error().message);
  }
  unpacked.bytes = std::span(memory, image.size);
  if (image.format == ImageFormat::kPtx && unpacked.bytes.back() != std::byte{0}) {
    return damaged(image, "its text does not end with a NUL");
  }
  return unpacked;
#else
  return Error{ErrorCode::kUnavailable,
               "the image '" + std::string(image.target) +
                   "' is stored with zstd, and this kiln runtime was built without it",
               {},
               {}}
      .hint("build the kernels with '--compress none', or the runtime with KILN_RUNTIME_ZSTD=ON");
#endif
}

ImageBytes copy_image(std::span<const std::byte> image, ImageFormat format) {
  const bool lacks_nul =
      format == ImageFormat::kPtx && (image.empty() || image.back() != std::byte{0});
  const std::size_t size = image.size() + (lacks_nul ? 1 : 0);
  ImageBytes copy;
  copy.storage.reset(
      static_cast<std::byte*>(::operator new[](size, std::align_val_t{kImageAlignment})));
  std::copy(image.begin(), image.end(), copy.storage.get());
  if (lacks_nul) copy.storage[size - 1] = std::byte{0};
  copy.bytes = std::span(copy.storage.get(), size);
  return copy;
}

}  // namespace kiln::runtime
