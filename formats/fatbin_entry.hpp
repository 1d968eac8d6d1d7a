// The header of one entry of a fat binary. fatbin.hpp has its layout.
#pragma once

#include <cstdint>
#include <string>

#include "formats/byte_reader.hpp"
#include "kiln/result.hpp"

namespace kiln {

inline constexpr std::uint16_t kFatbinPtx = 1;
inline constexpr std::uint16_t kFatbinCubin = 2;

struct FatbinEntryHeader {
  std::uint16_t kind = 0;
  std::uint32_t header_size = 0;
  std::uint64_t payload_size = 0;
  std::uint32_t compressed_size = 0;
  std::uint32_t capability = 0;
  std::uint64_t flags = 0;
  std::uint64_t decompressed_size = 0;
};

// Reads the header of an entry and returns its payload, which may be compressed. Errors:
// kInvalidInput.
Result<Bytes> read_fatbin_entry(ByteReader& reader, FatbinEntryHeader& entry);

// Returns "sm_90a" or "compute_80", or an empty string for an entry of another kind.
std::string fatbin_entry_target(const FatbinEntryHeader& entry);

}  // namespace kiln
