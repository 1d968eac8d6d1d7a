#include "formats/fatbin.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/fatbin_entry.hpp"
#include "formats/zstd.hpp"

namespace kiln {
namespace {

constexpr std::uint64_t kFlagLz4 = std::uint64_t{1} << 13;
constexpr std::uint64_t kFlagZstd = std::uint64_t{1} << 15;

Error damaged(const std::string& what) { return malformed("damaged fatbin: " + what); }

// Returns the payload, decompressed into `storage` if it is compressed.
Result<Bytes> unpack(const FatbinEntryHeader& header, Bytes payload, std::uint64_t content_limit,
                     std::vector<std::byte>& storage) {
  if ((header.flags & kFlagLz4) != 0) {
    return malformed("fatbin entry " + quote(fatbin_entry_target(header)) +
                     " is compressed with LZ4, kiln reads zstd")
        .hint("pack it again with fatbinary --compress-mode=size, or --compress=false");
  }
  if ((header.flags & kFlagZstd) == 0) return payload;
  const auto frame = slice(payload, 0, header.compressed_size);
  if (!frame) {
    return damaged("entry " + quote(fatbin_entry_target(header)) + " has " +
                   std::to_string(payload.size()) + " bytes, of which " +
                   std::to_string(header.compressed_size) + " are said to be a frame");
  }
  auto content = zstd_decompress(
      *frame, std::min({header.decompressed_size, kMaxExpansion * frame->size(), content_limit}));
  if (!content) return std::move(content).error().note("while decompressing a fatbin entry");
  storage = std::move(content).value();
  return Bytes(storage);
}

Bytes without_padding(Bytes text) {
  return text.first(as_text(text).find_last_not_of('\0') + 1);  // npos + 1 is 0
}

Result<void> read_entries(Bytes bytes, const VisitEntry& visit, std::uint64_t content_limit) {
  ByteReader reader(bytes);
  while (!reader.at_end()) {
    FatbinEntryHeader header;
    KILN_TRY_ASSIGN(const Bytes payload, read_fatbin_entry(reader, header));
    std::vector<std::byte> storage;
    KILN_TRY_ASSIGN(const Bytes image, unpack(header, payload, content_limit, storage));
    const std::string target = fatbin_entry_target(header);
    const std::string kind = header.kind == kFatbinPtx     ? "ptx"
                             : header.kind == kFatbinCubin ? "elf"
                                                           : "kind " + std::to_string(header.kind);
    KILN_TRY(visit({.name = target.empty() ? kind : kind + " " + target,
                    .target = target,
                    .bytes = header.kind == kFatbinPtx ? without_padding(image) : image}));
  }
  return {};
}

}  // namespace

Result<ContainerHead> read_fatbin(Bytes file, const VisitEntry& visit,
                                  std::uint64_t content_limit) {
  ContainerHead container;
  container.kind = FileKind::kFatbin;
  ByteReader reader(file);
  do {
    const auto magic = reader.little<std::uint32_t>();
    const auto version = reader.little<std::uint16_t>();
    const auto header_size = reader.little<std::uint16_t>();
    const auto size = reader.little<std::uint64_t>();
    if (reader.failed() || magic != kFatbinMagic) return damaged("no header where one should be");
    constexpr std::uint16_t kHeaderSize = 16;
    if (version != 1 || header_size < kHeaderSize) {
      return malformed("fatbin of version " + std::to_string(version) + " with a header of " +
                       std::to_string(header_size) + " bytes: kiln reads version 1");
    }
    reader.skip(header_size - kHeaderSize);
    const Bytes entries = reader.take(size);
    if (reader.failed()) {
      return damaged(std::to_string(size) + " bytes of entries in a file of " +
                     std::to_string(file.size()));
    }
    container.version = version;
    KILN_TRY(read_entries(entries, visit, content_limit));
  } while (!reader.at_end());
  return container;
}

}  // namespace kiln
