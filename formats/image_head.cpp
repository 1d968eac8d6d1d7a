#include "formats/image_head.hpp"

#include <charconv>
#include <string>

#include "base/diagnostic.hpp"
#include "formats/cubin.hpp"
#include "formats/elf.hpp"
#include "formats/elf_target.hpp"
#include "formats/fatbin.hpp"
#include "formats/host_image.hpp"
#include "formats/offload_bundle.hpp"

namespace kiln {
namespace {

Error truncated(std::string_view what, std::uint64_t expected, Bytes image) {
  return malformed("the " + std::string(what) + " is cut short: it says that it has " +
                   std::to_string(expected) + " bytes, there are " + std::to_string(image.size()));
}

Result<void> check_fatbin(Bytes image) {
  ByteReader reader(image);
  reader.skip(6);  // magic, version
  const auto header = reader.little<std::uint16_t>();
  const auto rest = reader.little<std::uint64_t>();
  const std::uint64_t whole = rest > ~std::uint64_t{header} ? rest : header + rest;
  if (reader.failed() || !slice(image, 0, whole)) return truncated("fat binary", whole, image);
  return {};
}

Result<void> check_bundle(Bytes image) {
  ByteReader reader(image);
  reader.skip(kOffloadBundleMagic.size());
  const auto count = reader.little<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const auto offset = reader.little<std::uint64_t>();
    const auto size = reader.little<std::uint64_t>();
    reader.skip(reader.little<std::uint64_t>());
    if (!slice(image, offset, size)) {
      const bool overflows = size > ~offset;
      return truncated("offload bundle", overflows ? size : offset + size, image);
    }
  }
  if (reader.failed()) return malformed("the offload bundle is cut short within its table");
  return {};
}

// Returns the text after the first `directive`, up to the end of its line.
std::string_view argument_of(std::string_view directive, std::string_view text) {
  const std::size_t at = text.find(directive);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + directive.size());
  rest = rest.substr(0, rest.find_first_of("\r\n"));
  const std::size_t start = rest.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : rest.substr(start);
}

}  // namespace

ImageHead read_ptx_head(std::string_view text) {
  ImageHead head;
  const std::string_view version = argument_of(".version", text);
  const char* const end = version.data() + version.size();
  unsigned major = 0, minor = 0;
  const auto read = std::from_chars(version.data(), end, major);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '.' &&
      std::from_chars(read.ptr + 1, end, minor).ec == std::errc() && major < 100 && minor < 10) {
    head.ptx_isa = static_cast<std::uint16_t>(10 * major + minor);
  }
  std::string_view target = argument_of(".target", text);
  target = target.substr(0, target.find_first_of(", \t"));
  if (target.starts_with("sm_")) {
    auto parsed = parse_target_id("compute_" + std::string(target.substr(3)));
    if (parsed) head.target = std::move(*parsed);
  }
  return head;
}

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
    case FileKind::kFatbin: KILN_TRY(check_fatbin(image)); break;
    case FileKind::kOffloadBundle: KILN_TRY(check_bundle(image)); break;
    case FileKind::kCompressedOffloadBundle:
    case FileKind::kUnknown: break;
  }
  return head;
}

}  // namespace kiln
