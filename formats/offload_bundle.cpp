#include "formats/offload_bundle.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/zstd.hpp"

namespace kiln {
namespace {

Error damaged(const std::string& what) { return malformed("damaged offload bundle: " + what); }

constexpr std::size_t kMaxIdLength = 4096;

// Reads the bundle at the start of `bytes` and returns its size: the end of its last code object.
Result<std::uint64_t> read_plain(Bytes bytes, const VisitEntry& visit) {
  ByteReader reader(bytes);
  reader.skip(kOffloadBundleMagic.size());
  const auto count = reader.little<std::uint64_t>();
  constexpr std::uint64_t kMinEntrySize = 24;
  if (reader.failed() || count > reader.remaining() / kMinEntrySize) {
    return damaged(std::to_string(count) + " entries in " + std::to_string(bytes.size()) +
                   " bytes");
  }
  std::uint64_t end = 0;
  std::uint64_t content = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = reader.little<std::uint64_t>();
    const auto size = reader.little<std::uint64_t>();
    const auto length = reader.little<std::uint64_t>();
    const std::string_view id = as_text(reader.take(length));
    if (reader.failed()) {
      return damaged("the file ends in the name of entry " + std::to_string(i));
    }
    if (length > kMaxIdLength) {
      return damaged("the name of entry " + std::to_string(i) + " has " + std::to_string(length) +
                     " bytes");
    }
    const auto code = slice(bytes, offset, size);
    if (!code) {
      return damaged("entry " + quote(id) + ", " + std::to_string(size) + " bytes at offset " +
                     std::to_string(offset) + ", passes the end at " +
                     std::to_string(bytes.size()));
    }
    end = std::max(end, offset + size);
    content += size;
    if (content > bytes.size()) {
      return damaged("its entries overlap: up to entry " + quote(id) + " they have " +
                     std::to_string(content) + " bytes, the bundle " +
                     std::to_string(bytes.size()));
    }
    KILN_TRY(visit(
        {.name = std::string(id), .target = std::string(bundle_entry_target(id)), .bytes = *code}));
  }
  return std::max<std::uint64_t>(end, reader.position());
}

struct Compressed {
  std::uint64_t size = 0;
  std::uint32_t version = 0;
};

// Reads the compressed bundle at the start of `bytes`.
Result<Compressed> read_compressed(Bytes bytes, const VisitEntry& visit,
                                   std::uint64_t content_limit) {
  ByteReader reader(bytes);
  reader.skip(kCompressedBundleMagic.size());
  const auto version = reader.little<std::uint16_t>();
  const auto method = reader.little<std::uint16_t>();
  if (!reader.failed() && (version < 1 || version > 3)) {
    return malformed("compressed offload bundle of version " + std::to_string(version) +
                     ": kiln reads versions 1 to 3");
  }
  std::uint64_t total = bytes.size();
  if (version == 2) total = reader.little<std::uint32_t>();
  if (version == 3) total = reader.little<std::uint64_t>();
  const std::uint64_t content_size =
      version == 3 ? reader.little<std::uint64_t>() : reader.little<std::uint32_t>();
  reader.skip(8);  // hash
  if (reader.failed() || total > bytes.size() || total < reader.position()) {
    return damaged("a compressed bundle of " + std::to_string(total) + " bytes, " +
                   std::to_string(bytes.size()) + " are there");
  }
  if (method != 1) {
    return malformed(
               "compressed offload bundle: its compression is " +
               (method == 0 ? std::string("zlib") : "of unknown method " + std::to_string(method)) +
               ", kiln reads zstd")
        .hint(
            "compress it again with a clang-offload-bundler that has zstd, or do not compress it");
  }
  const auto frame = slice(bytes, reader.position(), total - reader.position());
  auto content = zstd_decompress(
      *frame, std::min({content_size, kMaxExpansion * frame->size(), content_limit}));
  if (!content) return std::move(content).error().note("while decompressing an offload bundle");
  if (content->size() != content_size) {
    return damaged("it decompresses to " + std::to_string(content->size()) + " bytes, expected " +
                   std::to_string(content_size));
  }
  const Bytes plain(*content);
  if (!as_text(plain).starts_with(kOffloadBundleMagic)) {
    return damaged("what was compressed is no offload bundle");
  }
  KILN_TRY(read_plain(plain, visit));
  return Compressed{.size = total, .version = version};
}

}  // namespace

Result<ContainerHead> read_offload_bundle(Bytes file, const VisitEntry& visit,
                                          std::uint64_t content_limit) {
  ContainerHead container;
  container.kind = as_text(file).starts_with(kCompressedBundleMagic)
                       ? FileKind::kCompressedOffloadBundle
                       : FileKind::kOffloadBundle;
  Bytes rest = file;
  do {
    const std::string_view text = as_text(rest);
    std::uint64_t size = 0;
    if (text.starts_with(kOffloadBundleMagic)) {
      KILN_TRY_ASSIGN(size, read_plain(rest, visit));
    } else if (text.starts_with(kCompressedBundleMagic)) {
      KILN_TRY_ASSIGN(const Compressed bundle, read_compressed(rest, visit, content_limit));
      size = bundle.size;
      container.version = std::max(container.version, bundle.version);
    } else {
      return damaged("no bundle starts at byte " + std::to_string(file.size() - rest.size()));
    }
    rest = rest.subspan(static_cast<std::size_t>(size));
    const auto next =
        std::ranges::find_if(rest, [](std::byte byte) { return byte != std::byte{0}; });
    rest = rest.subspan(static_cast<std::size_t>(next - rest.begin()));
  } while (!rest.empty());
  return container;
}

}  // namespace kiln
