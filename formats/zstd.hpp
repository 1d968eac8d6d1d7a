// zstd frames: one call to make one, one call to read one back.
//
// The only header of ours behind which <zstd.h> is used. A frame made here carries its content size,
// no checksum and no dictionary, and depends on nothing but its input, the level and the zstd release.
//
// Format: RFC 8878. All functions are pure and may be called from several threads.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

// What embedded images are stored with. From this level on matches are chosen by "btopt" and not by zstd's
// "btultra": of the images of kiln's own kernels that takes 0.6 of the time and 0.7% more bytes. Compressing
// is nearly all that a build from nothing adds to its compilers' time.
inline constexpr int kZstdLevel = 18;

// What with the level and the input decides a frame's bytes: the library's release, "1.5.4", and how it is
// told to choose matches.
std::string zstd_version();
std::string_view zstd_matches();

// One frame that holds `bytes`. Fails only when memory runs out.
Result<std::string> zstd_compress(std::string_view bytes, int level = kZstdLevel);

// The content of one frame. A frame that does not state its size, states more than `limit`, or is
// damaged is an error.
inline constexpr std::size_t kZstdContentLimit = std::size_t{1} << 32;
Result<std::vector<std::byte>> zstd_decompress(std::span<const std::byte> frame,
                                               std::size_t limit = kZstdContentLimit);

// The same, into memory that the caller owns; `content` must have exactly the frame's content size.
Result<void> zstd_decompress_into(std::span<const std::byte> frame, std::span<std::byte> content);

}  // namespace kiln
