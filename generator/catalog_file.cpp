#include "generator/catalog_file.hpp"

#include <string_view>
#include <vector>

#include "formats/catalog_file.hpp"
#include "formats/parameter_type.hpp"
#include "generator/names.hpp"

namespace kiln::generator {
namespace {

class Writer {
 public:
  template <typename Integer>
  void little(Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    }
  }
  void text(std::string_view text) {
    count(text.size());
    bytes_ += text;
    bytes_ += '\0';
  }
  void count(std::size_t size) { little(static_cast<std::uint32_t>(size)); }
  void raw(const Digest& digest) {
    bytes_.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
  }
  void texts(const std::vector<std::string>& list) {
    count(list.size());
    for (const std::string& entry : list) text(entry);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Returns the table of the images, which begin at `offset`. Advances `offset` past the last of
// them.
std::string table(const Catalog& catalog, std::uint64_t& offset) {
  Writer out;
  out.text(catalog.name);
  out.texts(catalog.targets);
  out.texts(catalog.missing_targets);
  out.count(catalog.modules.size());
  for (const Module& module : catalog.modules) {
    out.text(module.name);
    out.little(module.source_digest.prefix64());
    out.little(static_cast<std::uint16_t>(module.sources.size()));
    out.count(module.kernels.size());
    for (const Kernel& kernel : module.kernels) {
      out.text(kernel.name);
      out.little(kernel.unit);
      out.count(kernel.parameters.size());
      for (const KernelParameter& parameter : kernel.parameters) {
        out.little(parameter.layout.offset);
        out.little(parameter.layout.size);
        out.little(static_cast<std::uint8_t>(parameter.layout.kind));
        out.text(to_string(parameter.type));
        out.text(parameter.name);
      }
    }
    out.count(module.images.size());
    for (const Artifact& image : module.images) {
      offset = aligned(offset, alignment(image));
      out.text(target_name(image));
      out.little(static_cast<std::uint8_t>(image.info.format));
      out.little(static_cast<std::uint8_t>(image.compression));
      out.little(image.unit);
      out.little(image.info.ptx_isa);
      out.little(offset);
      out.little(std::uint64_t{image.stored.size()});
      out.little(std::uint64_t{decompressed_size(image)});
      out.little(image.digest.prefix64());
      out.raw(sha256(image.stored));
      offset += image.stored.size();
    }
  }
  return out.take();
}

}  // namespace

CatalogFileText write_catalog_file(const Catalog& catalog, std::uint32_t minimum_runtime) {
  // Offsets have a fixed width, so the first table already has the final size.
  std::uint64_t size = 0;
  const std::uint64_t table_end = kCatalogFileHeadSize + table(catalog, size).size();
  size = table_end;
  const std::string rows = table(catalog, size);

  Writer head;
  head.little(kCatalogFileFormat);
  head.little(minimum_runtime);
  head.little(size);
  head.little(table_end);
  head.raw(sha256(rows));
  CatalogFileText file{std::string(kCatalogFileMagic) + head.take() + rows, {}};
  for (const Module& module : catalog.modules) {
    for (const Artifact& image : module.images) {
      file.bytes.resize(aligned(file.bytes.size(), alignment(image)));
      file.offsets.push_back(file.bytes.size());
      file.bytes += image.stored;
    }
  }
  return file;
}

}  // namespace kiln::generator
