#include "generator/names.hpp"

#include <algorithm>

#include "generator/identifiers.hpp"

namespace kiln::generator {

std::string_view name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kHsaco: return "hsaco";
    case ImageFormat::kCubin: return "cubin";
    case ImageFormat::kPtx: return "ptx";
    case ImageFormat::kHost: return "host";
    case ImageFormat::kSource: return "source";
  }
  return "";
}

std::string_view enumerator(ImageFormat format) {
  switch (format) {
    case ImageFormat::kHsaco: return "kHsaco";
    case ImageFormat::kCubin: return "kCubin";
    case ImageFormat::kPtx: return "kPtx";
    case ImageFormat::kHost: return "kHost";
    case ImageFormat::kSource: return "kSource";
  }
  return "";
}

std::string_view name(Compression compression) {
  return compression == Compression::kZstd ? "zstd" : "none";
}

std::string_view enumerator(Compression compression) {
  return compression == Compression::kZstd ? "kZstd" : "kNone";
}

std::string stem(const Options& options) {
  const std::size_t dot = options.header.rfind('.');
  return dot == std::string::npos || dot == 0 ? options.header : options.header.substr(0, dot);
}

std::string short_digest(const Digest& digest) { return digest.hex().substr(0, 16); }

std::string version_text(std::uint32_t version) {
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

std::string namespace_name(const Catalog& catalog, const Module& module) {
  const std::string own = identifier(module.name);
  const bool is_taken = std::ranges::any_of(catalog.modules, [&](const Module& other) {
    return std::ranges::find(other.kernels, module.name, &Kernel::name) != other.kernels.end();
  });
  if (!is_taken) return own;
  // A kernel of an odd name has the short spelling, too.
  return spelt_out(module.name, own == module.name ? Spelling::kShort : Spelling::kEveryByte);
}

std::string array_name(const Module& module, const Image& image) {
  const std::string target = target_identifier(image.target);
  return module.unit_count == 1 ? target : "unit" + std::to_string(image.unit) + '_' + target;
}

std::string symbol(const Digest& digest, const Module& module, const Image& image) {
  return "kiln_" + short_digest(digest) + '_' + identifier(module.name) + '_' +
         std::to_string(image.unit) + '_' + target_identifier(image.target);
}

std::string blob_path(const Options& options, const Module& module, const Image& image) {
  std::string path = stem(options) + ".blobs/" + identifier(module.name) + '.' +
                     std::to_string(image.unit) + '.' + target_identifier(image.target) + '.';
  path += name(image.format);
  if (image.compression == Compression::kZstd) path += ".zst";
  return path;
}

unsigned alignment(const Image& image) {
  return image.format == ImageFormat::kHsaco && image.compression == Compression::kNone ? 4096 : 64;
}

}  // namespace kiln::generator
