#include "formats/zstd.hpp"

#include <zstd.h>

#include <memory>
#include <new>

namespace kiln {
namespace {

Error damaged(std::string why) {
  return Error{ErrorCode::kInvalidInput, "bad zstd frame: " + std::move(why), {}, {}};
}

Error cannot_compress(const std::string& why) {
  return Error{ErrorCode::kEnvironment, "cannot compress with zstd: " + why, {}, {}};
}

}  // namespace

std::string zstd_version() { return ZSTD_versionString(); }
std::string_view zstd_strategy() { return "btopt"; }

Result<std::string> zstd_compress(std::string_view bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) return cannot_compress("no memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  if (level >= kZstdLevel) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_strategy, ZSTD_btopt);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return cannot_compress(ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

Result<void> zstd_decompress_into(std::span<const std::byte> frame, std::span<std::byte> content) {
  const std::size_t size =
      ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return damaged(ZSTD_getErrorName(size));
  if (size != content.size()) {
    return damaged("it holds " + std::to_string(size) + " bytes, expected " +
                   std::to_string(content.size()));
  }
  return {};
}

Result<std::vector<std::byte>> zstd_decompress(std::span<const std::byte> frame,
                                               std::size_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return damaged("it does not start with a frame header");
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) return damaged("it does not state its content size");
  if (size > limit) {
    return damaged("it states " + std::to_string(size) + " bytes, the limit is " +
                   std::to_string(limit));
  }
  // A block takes at least 4 bytes and holds at most 128 KiB. A frame that claims more is damaged,
  // and no memory is allocated for it.
  constexpr std::size_t kBlock = std::size_t{128} << 10;
  if (size / kBlock > frame.size() / 4) {
    return damaged("it states " + std::to_string(size) + " bytes, more than its " +
                   std::to_string(frame.size()) + " can hold");
  }
  std::vector<std::byte> content;
  try {
    content.resize(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kEnvironment,
                 "no memory for " + std::to_string(size) + " bytes of zstd content", {}, {}};
  }
  if (auto done = zstd_decompress_into(frame, content); !done) return std::move(done).error();
  return content;
}

}  // namespace kiln
