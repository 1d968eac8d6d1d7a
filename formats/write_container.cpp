#include "formats/write_container.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/byte_reader.hpp"
#include "formats/fatbin.hpp"
#include "formats/offload_bundle.hpp"

namespace kiln {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint16_t kFatbinHeader = 16;

template <typename Integer>
void put(std::string& text, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  }
}

std::uint64_t page_after(std::uint64_t offset) { return (offset + kPage - 1) / kPage * kPage; }

}  // namespace

std::string write_offload_bundle(const std::vector<BundleEntry>& entries) {
  std::uint64_t offset = kOffloadBundleMagic.size() + 8;
  for (const BundleEntry& entry : entries) offset += 24 + entry.name.size();
  std::string text(kOffloadBundleMagic);
  put<std::uint64_t>(text, entries.size());
  for (const BundleEntry& entry : entries) {
    offset = page_after(offset);
    put<std::uint64_t>(text, offset);
    put<std::uint64_t>(text, entry.bytes.size());
    put<std::uint64_t>(text, entry.name.size());
    text += entry.name;
    offset += entry.bytes.size();
  }
  for (const BundleEntry& entry : entries) {
    text.resize(page_after(text.size()));
    text += as_text(entry.bytes);
  }
  return text;
}

Result<std::vector<FatbinEntry>> fatbin_entries(Bytes file) {
  const auto refuse = [](const std::string& what) {
    return Error{.code = ErrorCode::kInvalidInput, .message = "damaged fatbin: " + what};
  };
  ByteReader reader(file);
  const auto magic = reader.little<std::uint32_t>();
  reader.skip(2);
  const auto header_size = reader.little<std::uint16_t>();
  const auto size = reader.little<std::uint64_t>();
  if (reader.failed() || magic != kFatbinMagic || header_size != kFatbinHeader ||
      size != reader.remaining()) {
    return refuse("no single fat binary");
  }
  std::vector<Bytes> parts;
  while (!reader.at_end()) {
    const std::size_t start = reader.position();
    reader.skip(4);
    const auto entry_header = reader.little<std::uint32_t>();
    const auto payload = reader.little<std::uint64_t>();
    constexpr std::uint32_t kRead = 16;
    if (reader.failed() || entry_header < kRead) return refuse("an entry without a header");
    reader.skip(entry_header - kRead);
    reader.take(payload);
    if (reader.failed()) return refuse("an entry passes the end of the file");
    parts.push_back(file.subspan(start, reader.position() - start));
  }
  std::vector<FatbinEntry> entries;
  std::size_t next = 0;
  KILN_TRY(read_fatbin(
      file,
      [&](const ContainerEntry& entry) -> Result<void> {
        if (next < parts.size()) entries.push_back({entry.target, parts[next++]});
        return {};
      },
      ~std::uint64_t{0}));
  return entries;
}

std::string write_fatbin(const std::vector<FatbinEntry>& entries) {
  std::uint64_t size = 0;
  for (const FatbinEntry& entry : entries) size += entry.bytes.size();
  std::string text;
  put<std::uint32_t>(text, kFatbinMagic);
  put<std::uint16_t>(text, 1);
  put<std::uint16_t>(text, kFatbinHeader);
  put<std::uint64_t>(text, size);
  for (const FatbinEntry& entry : entries) text += as_text(entry.bytes);
  return text;
}

}  // namespace kiln
