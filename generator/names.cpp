#include "generator/names.hpp"

#include <algorithm>

#include "formats/image_format.hpp"
#include "generator/identifiers.hpp"
#include "generator/source_names.hpp"

namespace kiln::generator {

std::string_view enumerator(Compression compression) {
  return compression == Compression::kZstd ? "kZstd" : "kNone";
}

std::string stem(const Options& options) {
  const std::size_t dot = options.header.rfind('.');
  return dot == std::string::npos || dot == 0 ? options.header : options.header.substr(0, dot);
}

std::string short_digest(const Digest& digest) { return digest.hex().substr(0, 16); }

namespace {

// True if the source uses that name for a kernel or for the outermost namespace of one.
bool has_source_name(const Module& module, const std::string& name) {
  // A quick check avoids demangling most kernels.
  const bool may_have = std::ranges::any_of(module.kernels, [&](const Kernel& kernel) {
    return kernel.name.starts_with("_Z") && kernel.name.find(name) != std::string::npos;
  });
  return may_have && std::ranges::any_of(source_names_of(module), [&](const SourceName& source) {
           return source.space.empty() ? source.name == name
                                       : source.space.substr(0, source.space.find("::")) == name;
         });
}

}  // namespace

std::string namespace_name(const Catalog& catalog, const Module& module) {
  const std::string ordinary = identifier(module.name);
  const bool is_taken = std::ranges::any_of(catalog.modules, [&](const Module& other) {
    return std::ranges::find(other.kernels, module.name, &Kernel::name) != other.kernels.end() ||
           has_source_name(other, module.name);
  });
  if (!is_taken) return ordinary;
  // A kernel with an unusual name also has the short spelling.
  return spelt_out(module.name, ordinary == module.name ? Spelling::kShort : Spelling::kEveryByte);
}

std::string target_name(const Artifact& image) {
  if (image.info.format == ImageFormat::kSource) return std::string(to_string(image.info.format));
  return to_string(image.target);
}

std::size_t decompressed_size(const Artifact& image) {
  return image.bytes.size() + (image.info.format == ImageFormat::kPtx ? 1 : 0);
}

std::string array_name(const Module& module, const Artifact& image) {
  const std::string target = target_identifier(target_name(image));
  return module.sources.size() == 1 ? target : "unit" + std::to_string(image.unit) + '_' + target;
}

std::string symbol(const Digest& digest, const Module& module, const Artifact& image) {
  return "kiln_" + short_digest(digest) + '_' + identifier(module.name) + '_' +
         std::to_string(image.unit) + '_' + target_identifier(target_name(image));
}

std::string blob_path(const Options& options, const Module& module, const Artifact& image) {
  std::string path = stem(options) + ".blobs/" + identifier(module.name) + '.' +
                     std::to_string(image.unit) + '.' + target_identifier(target_name(image)) + '.';
  path += to_string(image.info.format);
  if (image.compression == Compression::kZstd) path += ".zst";
  return path;
}

unsigned alignment(const Artifact& image) {
  return image.info.format == ImageFormat::kHsaco && image.compression == Compression::kNone ? 4096 : 64;
}

}  // namespace kiln::generator
