// Fat binaries, into which nvcc and fatbinary pack cubins and PTX for several targets.
//
//   header   {u32 0xBA55ED50, u16 version 1, u16 header size 16, u64 size of all that follows}
//   entry    {u16 kind: 1 PTX, 2 cubin   u16 version        u32 header size    u64 payload size
//             u32 compressed size        u32 offset of more header             u16 minor, u16 major
//             u32 compute capability     u32 name offset    u32 name size      u64 flags
//             u64 reserved               u64 decompressed size}, more header, payload
//   flags    bit 13 LZ4, bit 15 zstd;  bits 20-23: 1 'a', 2 'f'
//
//   Payloads are padded to 8 bytes. The sizes for compression are 0 in an uncompressed entry.
//
// Byte order: little-endian. NVIDIA publishes no specification. The fields were found by packing
// known images with fatbinary 13.0 in each of its compression modes. Tests in tests/unit/formats
// check them.
#pragma once

#include <cstdint>

#include "formats/image.hpp"

namespace kiln {

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

// Reads one fat binary, or several in sequence, like read_container().
Result<ContainerHead> read_fatbin(Bytes file, const VisitEntry& visit, std::uint64_t content_limit);

}  // namespace kiln
