// SHA-256 with the x86 instructions for it (Intel, "Intel SHA Extensions").
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {

// True if this processor has the instructions. Always false except on x86-64.
bool has_sha_instructions();

// Applies the compression of FIPS 180-4 to `count` blocks of 64 bytes. Requires
// has_sha_instructions().
void compress_by_instructions(std::uint32_t state[8], const std::uint8_t* blocks, std::size_t count,
                              const std::uint32_t rounds[64]);

}  // namespace kiln
