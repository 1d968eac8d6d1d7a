#include "formats/image_head.hpp"

#include <charconv>
#include <string>

#include "base/diagnostic.hpp"
#include "formats/cubin.hpp"
#include "formats/elf.hpp"
#include "formats/elf_target.hpp"
#include "formats/fatbin_entry.hpp"
#include "formats/host_image.hpp"
#include "formats/offload_bundle.hpp"
#include "formats/ptx.hpp"
#include "formats/ptx_tokens.hpp"

namespace kiln {
namespace {

Error truncated(std::string_view what, std::uint64_t expected, Bytes image) {
  return malformed("the " + std::string(what) + " is cut short: it says that it has " +
                   std::to_string(expected) + " bytes, there are " + std::to_string(image.size()));
}

// Adds the target of a container's entry to the head.
void add_entry(ImageHead& head, std::string_view target) {
  auto parsed = parse_target_id(target);
  if (parsed) {
    head.entries.push_back(std::move(*parsed));
  } else {
    head.has_unknown_entries = true;
  }
}

Result<ImageHead> read_fatbin_head(Bytes image) {
  ByteReader reader(image);
  reader.skip(6);  // magic, version
  const auto header = reader.little<std::uint16_t>();
  const auto rest = reader.little<std::uint64_t>();
  const std::uint64_t whole = rest > ~std::uint64_t{header} ? rest : header + rest;
  if (reader.failed() || !slice(image, 0, whole)) return truncated("fat binary", whole, image);
  ImageHead head;
  ByteReader entries(*slice(image, header, rest));
  while (!entries.at_end()) {
    FatbinEntryHeader entry;
    KILN_TRY(read_fatbin_entry(entries, entry));
    add_entry(head, fatbin_entry_target(entry));
  }
  return head;
}

Result<ImageHead> read_bundle_head(Bytes image) {
  ImageHead head;
  ByteReader reader(image);
  reader.skip(kOffloadBundleMagic.size());
  const auto count = reader.little<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const auto offset = reader.little<std::uint64_t>();
    const auto size = reader.little<std::uint64_t>();
    const std::string_view id = as_text(reader.take(reader.little<std::uint64_t>()));
    if (!slice(image, offset, size)) {
      const bool overflows = size > ~offset;
      return truncated("offload bundle", overflows ? size : offset + size, image);
    }
    if (!is_host_entry(id)) add_entry(head, bundle_entry_target(id));
  }
  if (reader.failed()) return malformed("the offload bundle is cut short within its table");
  return head;
}

// Returns 90 for "9.0", or 0 for any other text.
std::uint16_t parse_ptx_isa(std::string_view version) {
  const char* const end = version.data() + version.size();
  unsigned major = 0, minor = 0;
  const auto read = std::from_chars(version.data(), end, major);
  const bool is_version = read.ec == std::errc() && read.ptr != end && *read.ptr == '.' &&
                          std::from_chars(read.ptr + 1, end, minor).ec == std::errc();
  if (!is_version || major >= 100 || minor >= 10) return 0;
  return static_cast<std::uint16_t>(10 * major + minor);
}

// Reads .version and .target, with which PTX begins.
Result<ImageHead> read_ptx_head(std::string_view text) {
  KILN_TRY(check_ptx_end(text));
  ImageHead head;
  PtxTokenizer tokens(text);
  tokens.next();  // .version
  head.ptx_isa = parse_ptx_isa(tokens.next().text);
  tokens.next();  // .target
  const std::string_view target = tokens.next().text;
  if (!target.starts_with("sm_")) return head;
  auto parsed = parse_target_id("compute_" + std::string(target.substr(3)));
  if (parsed) head.target = std::move(*parsed);
  return head;
}

}  // namespace

Result<ImageHead> read_image_head(Bytes image) {
  ImageHead head;
  switch (detect_kind(image)) {
    case FileKind::kHsaco: {
      KILN_TRY_ASSIGN(const Elf elf, read_elf_without_symbols(image));
      KILN_TRY_ASSIGN(head.target, amd_target(elf.header));
      break;
    }
    case FileKind::kCubin: {
      KILN_TRY_ASSIGN(head.target, read_cubin_target(image));
      break;
    }
    case FileKind::kHost: {
      KILN_TRY(read_elf_without_symbols(image));
      head.target = find_host_target(image);
      break;
    }
    case FileKind::kPtx: return read_ptx_head(as_text(image));
    case FileKind::kFatbin: return read_fatbin_head(image);
    case FileKind::kOffloadBundle: return read_bundle_head(image);
    case FileKind::kCompressedOffloadBundle:
    case FileKind::kUnknown: break;
  }
  return head;
}

}  // namespace kiln
