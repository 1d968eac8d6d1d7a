#include "formats/fatbin_entry.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln {
namespace {

// Reads the known fields. More header may follow, up to `header_size`.
FatbinEntryHeader read_fields(ByteReader& reader) {
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

}  // namespace

Result<Bytes> read_fatbin_entry(ByteReader& reader, FatbinEntryHeader& entry) {
  const std::size_t start = reader.position(), left = reader.remaining();
  entry = read_fields(reader);
  const std::size_t fields = reader.position() - start;
  if (reader.failed() || entry.header_size < fields) {
    return malformed("damaged fatbin: an entry header of " + std::to_string(entry.header_size) +
                     " bytes with " + std::to_string(left) + " left");
  }
  reader.skip(entry.header_size - fields);
  const Bytes payload = reader.take(entry.payload_size);
  if (!reader.failed()) return payload;
  return malformed("damaged fatbin: entry " + quote(fatbin_entry_target(entry)) + " of " +
                   std::to_string(entry.payload_size) + " bytes passes the end of the file");
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
