// Launch numbers, beside their evidence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::ops {

// The reference host's: one element a thread, 1024 threads a block.
inline constexpr std::uint32_t kReferenceBlock = 1024;

// Ours for maps: one 16-byte access a thread, exact grid. Contiguous f32 of 2^27 elements on an
// H200: 256 us with 128 to 256 threads a block, the speed of a copy; 475 us with the reference's
// numbers.
inline constexpr std::uint32_t kMapBlock = 256;
inline constexpr std::uint32_t kMapBytesPerThread = 16;

// The most blocks of a grid's x, for every vendor.
inline constexpr std::size_t kMaxGridX = 0x7fffffff;

}  // namespace kiln::ops
