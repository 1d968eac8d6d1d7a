#include "formats/image_format.hpp"

#include <cstddef>

namespace kiln {
namespace {

struct FormatNames {
  ImageFormat format;
  std::string_view name, enumerator, extension;
};

// In the order of the enumerators.
constexpr FormatNames kFormats[] = {
    {ImageFormat::kHsaco, "hsaco", "kHsaco", "hsaco"},
    {ImageFormat::kCubin, "cubin", "kCubin", "cubin"},
    {ImageFormat::kPtx, "ptx", "kPtx", "ptx"},
    {ImageFormat::kHost, "host", "kHost", "so"},
    {ImageFormat::kSource, "source", "kSource", "source"},
};

const FormatNames& names_of(ImageFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

}  // namespace

std::string_view to_string(ImageFormat format) { return names_of(format).name; }
std::string_view enumerator(ImageFormat format) { return names_of(format).enumerator; }
std::string_view file_extension(ImageFormat format) { return names_of(format).extension; }

std::optional<ImageFormat> parse_image_format(std::string_view name) {
  for (const FormatNames& names : kFormats) {
    if (names.name == name) return names.format;
  }
  return std::nullopt;
}

ImageFormat format_of(TargetKind kind) {
  switch (kind) {
    case TargetKind::kAmd: return ImageFormat::kHsaco;
    case TargetKind::kCubin: return ImageFormat::kCubin;
    case TargetKind::kPtx: return ImageFormat::kPtx;
    case TargetKind::kHost: break;
  }
  return ImageFormat::kHost;
}

}  // namespace kiln
