// SHA-256 by the instructions that x86 processors have for it (Intel, "Intel SHA Extensions").
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {

// Whether this processor has them; never elsewhere than on x86-64.
bool has_sha_instructions();

// What FIPS 180-4 does with `count` blocks of 64 bytes. Only where has_sha_instructions().
void compress_by_instructions(std::uint32_t state[8], const std::uint8_t* blocks, std::size_t count,
                              const std::uint32_t rounds[64]);

}  // namespace kiln
