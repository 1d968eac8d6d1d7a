#include "formats/fatbin_entry.hpp"

namespace kiln {

FatbinEntryHeader read_fatbin_entry(ByteReader& reader) {
  FatbinEntryHeader entry;
  entry.kind = reader.little<std::uint16_t>();
  reader.skip(2);  // version
  entry.header_size = reader.little<std::uint32_t>();
  entry.payload_size = reader.little<std::uint64_t>();
  entry.compressed_size = reader.little<std::uint32_t>();
  reader.skip(8);  // offset of more header; version of the code
  entry.capability = reader.little<std::uint32_t>();
  reader.skip(8);  // name
  entry.flags = reader.little<std::uint64_t>();
  reader.skip(8);
  entry.decompressed_size = reader.little<std::uint64_t>();
  return entry;
}

std::string fatbin_entry_target(const FatbinEntryHeader& entry) {
  if (entry.kind != kFatbinPtx && entry.kind != kFatbinCubin) return {};
  std::string target = entry.kind == kFatbinPtx ? "compute_" : "sm_";
  target += std::to_string(entry.capability);
  const std::uint64_t suffix = (entry.flags >> 20) & 15;
  if (suffix == 1) target += 'a';
  if (suffix == 2) target += 'f';
  return target;
}

}  // namespace kiln
