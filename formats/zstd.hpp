// zstd frames: one call to make one, one call to read one back.
//
// Only the source of this header uses <zstd.h>. A frame made here carries its content size, but no
// checksum and no dictionary. It depends only on its input, the level and the zstd release.
//
// Format: RFC 8878. All functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

// The level for embedded images. From this level on, matches are chosen by "btopt" instead of
// zstd's "btultra". For the images of kiln's own kernels, that takes 0.6 of the time and 0.7% more
// bytes. In a build from scratch, compression is nearly all the time that kiln adds to the
// compilers'.
inline constexpr int kZstdLevel = 18;

// Apart from the level and the input, these decide the bytes of a frame: the library's release,
// such as "1.5.4", and its strategy for choosing matches.
std::string zstd_version();
std::string_view zstd_strategy();

// Returns a frame that holds `bytes`. Fails only if memory runs out.
Result<std::string> zstd_compress(std::string_view bytes, int level = kZstdLevel);

// Returns the content of one frame. Errors: a frame that does not state its size, states more than
// `limit`, or is damaged.
inline constexpr std::size_t kZstdContentLimit = std::size_t{1} << 32;
Result<std::vector<std::byte>> zstd_decompress(std::span<const std::byte> frame,
                                               std::size_t limit = kZstdContentLimit);

// The same, into memory of the caller's. `content` must have exactly the frame's content size.
Result<void> zstd_decompress_into(std::span<const std::byte> frame, std::span<std::byte> content);

}  // namespace kiln
