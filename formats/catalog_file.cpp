#include "formats/catalog_file.hpp"

#include <algorithm>
#include <utility>

#include "base/version_text.hpp"
#include "formats/image_format.hpp"
#include "formats/parameter_type.hpp"
#include "formats/target_id.hpp"

namespace kiln {
namespace {

constexpr std::size_t kImageAlignment = 64;
constexpr std::size_t kHsacoAlignment = 4096;

// Smallest encoding of an element of each list. Bounds a count before memory is allocated for it.
constexpr std::size_t kMinText = 5, kMinModule = 23, kMinKernel = 11, kMinParameter = 15,
                      kMinImage = 75;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

Error damaged(const std::string& what) {
  return malformed("damaged catalog file: " + what)
      .hint("copy the file again, or build it again with 'kiln build --emit catalog'");
}

// Reads the table. Keeps the first error; everything read after it is empty.
class TableReader {
 public:
  TableReader(Bytes file, std::size_t table_end)
      : file_(file), table_end_(table_end), reader_(file.first(table_end)) {
    reader_.skip(kCatalogFileHeadSize);
  }

  Result<CatalogFileContents> read() {
    CatalogFileContents contents;
    contents.catalog.name = name("the catalog");
    read_texts(contents.targets);
    read_texts(contents.missing_targets);
    const std::size_t modules = count(kMinModule, "modules");
    contents.storage.resize(modules);
    contents.modules.resize(modules);
    for (std::size_t id = 0; id < modules && error_.empty(); ++id) {
      read_module(contents.modules[id], contents.storage[id]);
      contents.modules[id].id = static_cast<std::uint32_t>(id);
      if (id != 0 && contents.modules[id].name <= contents.modules[id - 1].name) {
        fail("its modules are not sorted");
      }
      contents.module_pointers.push_back(&contents.modules[id]);
    }
    if (!reader_.failed() && !reader_.at_end()) fail("bytes follow the last module of its table");
    if (reader_.failed()) fail("its table ends too early");
    if (!error_.empty()) return damaged(error_);
    contents.catalog.targets = {contents.targets.data(), contents.targets.size()};
    contents.catalog.missing_targets = {contents.missing_targets.data(),
                                        contents.missing_targets.size()};
    contents.catalog.modules = {contents.module_pointers.data(), contents.module_pointers.size()};
    return contents;
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  std::size_t count(std::size_t min_bytes, const char* items) {
    const auto number = reader_.little<std::uint32_t>();
    if (number > reader_.remaining() / min_bytes) {
      fail("it has no room for " + std::to_string(number) + " " + items);
    }
    return error_.empty() ? number : 0;
  }

  std::string_view text() {
    const auto size = reader_.little<std::uint32_t>();
    const std::string_view text = as_text(reader_.take(size));
    if (reader_.little<std::uint8_t>() != 0 || text.find('\0') != std::string_view::npos) {
      fail("a string is not NUL-terminated, or has a second NUL");
    }
    return text;
  }
  std::string_view name(const char* owner) {
    const std::string_view found = text();
    if (found.empty()) fail(std::string(owner) + " has no name");
    return found;
  }

  void read_texts(std::vector<std::string_view>& texts) {
    const std::size_t size = count(kMinText, "targets");
    for (std::size_t i = 0; i < size; ++i) texts.push_back(text());
  }

  void read_module(ModuleEntry& module, CatalogFileContents::ModuleStorage& storage) {
    module.name = name("a module");
    module.source_digest = reader_.little<std::uint64_t>();
    module.unit_count = reader_.little<std::uint16_t>();
    const std::size_t kernels = count(kMinKernel, "kernels");
    std::vector<std::size_t> ends;  // of each kernel's parameters
    for (std::size_t i = 0; i < kernels && error_.empty(); ++i) {
      KernelEntry& kernel = storage.kernels.emplace_back();
      kernel.name = name("a kernel");
      kernel.unit = reader_.little<std::uint16_t>();
      if (kernel.unit >= module.unit_count)
        fail("kernel " + quoted(kernel.name) + " is in no unit");
      if (i != 0 && kernel.name <= storage.kernels[i - 1].name) {
        fail("the kernels of module " + quoted(module.name) + " are not sorted");
      }
      const std::size_t parameters = count(kMinParameter, "parameters");
      for (std::size_t p = 0; p < parameters; ++p) read_parameter(kernel.name, storage);
      ends.push_back(storage.parameters.size());
    }
    if (!error_.empty()) return;
    for (std::size_t i = 0, start = 0; i < kernels; start = ends[i++]) {
      if (ends[i] == start) continue;
      storage.kernels[i].parameters = {storage.parameters.data() + start, ends[i] - start};
    }
    const std::size_t images = count(kMinImage, "images");
    for (std::size_t i = 0; i < images && error_.empty(); ++i) read_image(module, storage);
    // Each unit costs a slot when the module is loaded, so their number is limited.
    if (module.unit_count == 0 || module.unit_count > 1 + kernels + images) {
      fail("module " + quoted(module.name) + " has " + std::to_string(module.unit_count) +
           " units");
    }
    module.kernels = {storage.kernels.data(), storage.kernels.size()};
    module.images = {storage.images.data(), storage.images.size()};
  }

  void read_parameter(std::string_view kernel, CatalogFileContents::ModuleStorage& storage) {
    Parameter& parameter = storage.parameters.emplace_back();
    parameter.offset = reader_.little<std::uint16_t>();
    parameter.size = reader_.little<std::uint16_t>();
    const auto kind = reader_.little<std::uint8_t>();
    if (kind > static_cast<std::uint8_t>(ParameterKind::kPointer))
      fail("a parameter has an unknown kind");
    parameter.kind = static_cast<ParameterKind>(kind);
    ParameterText& texts = storage.texts.emplace_back();
    texts.type = text();
    texts.name = text();
    const auto type = parse_parameter_type(texts.type);
    const bool fits = texts.type.empty() || (type && size_of(*type) == parameter.size);
    if (type) {
      parameter.kind = type->is_pointer ? ParameterKind::kPointer : ParameterKind::kValue;
      parameter.element = type->element;
      parameter.is_const = type->is_const;
    }
    if (parameter.size == 0 || !fits) {
      fail("kernel " + quoted(kernel) + " has a parameter of type " + quoted(texts.type) + " and " +
           std::to_string(parameter.size) + " bytes");
    }
  }

  void read_image(const ModuleEntry& module, CatalogFileContents::ModuleStorage& storage) {
    ImageEntry& image = storage.images.emplace_back();
    image.target = text();
    const auto format = reader_.little<std::uint8_t>();
    const auto compression = reader_.little<std::uint8_t>();
    image.unit = reader_.little<std::uint16_t>();
    image.ptx_isa = reader_.little<std::uint16_t>();
    const auto offset = reader_.little<std::uint64_t>();
    const auto stored_size = reader_.little<std::uint64_t>();
    const auto size = reader_.little<std::uint64_t>();
    image.digest = reader_.little<std::uint64_t>();
    Digest& digest = storage.stored_digests.emplace_back();
    const Bytes digest_bytes = reader_.take(digest.bytes.size());
    std::ranges::transform(digest_bytes, digest.bytes.begin(),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    if (reader_.failed()) return;

    const std::string what = "image " + quoted(image.target) + " of module " + quoted(module.name);
    if (format > static_cast<std::uint8_t>(ImageFormat::kSource) ||
        compression > static_cast<std::uint8_t>(Compression::kZstd)) {
      return fail(what + " is of no known format");
    }
    image.format = static_cast<ImageFormat>(format);
    image.compression = static_cast<Compression>(compression);
    if (!is_target_of(image)) fail(what + " is of a format that such a target does not have");
    if (image.unit >= module.unit_count) fail(what + " is in no unit");
    const bool is_plain = image.compression == Compression::kNone;
    const std::size_t alignment =
        is_plain && image.format == ImageFormat::kHsaco ? kHsacoAlignment : kImageAlignment;
    const auto stored = slice(file_, offset, stored_size);
    if (!stored || offset < table_end_ || offset % alignment != 0 || stored_size == 0) {
      return fail(what + " does not lie in the file");
    }
    if (size == 0 || size > SIZE_MAX || (is_plain && size != stored_size)) {
      return fail(what + " has a wrong size");
    }
    const bool is_text = image.format == ImageFormat::kPtx;
    if (is_text && is_plain && stored->back() != std::byte{0}) {
      return fail(what + " does not end with a NUL");
    }
    image.data = reinterpret_cast<const unsigned char*>(stored->data());
    image.stored_size = stored->size();
    image.size = static_cast<std::size_t>(size);
  }

  static bool is_target_of(const ImageEntry& image) {
    if (image.format == ImageFormat::kSource)
      return image.target == to_string(ImageFormat::kSource);
    const Result<TargetId> target = parse_target_id(image.target);
    return target && format_of(target->kind) == image.format;
  }

  Bytes file_;
  std::size_t table_end_;
  ByteReader reader_;
  std::string error_;
};

}  // namespace

Result<CatalogFileContents> read_catalog_file(Bytes file) {
  ByteReader head(file);
  if (as_text(head.take(kCatalogFileMagic.size())) != kCatalogFileMagic) {
    return malformed("this is no catalog file of kiln")
        .hint("'kiln build --emit catalog' writes one, out/include/<name>.kiln");
  }
  const auto format = head.little<std::uint32_t>();
  const auto minimum_runtime = head.little<std::uint32_t>();
  const auto file_size = head.little<std::uint64_t>();
  const auto table_size = head.little<std::uint64_t>();
  const Bytes table_digest = head.take(sizeof(Digest::bytes));
  if (head.failed()) return damaged("it ends within its head");
  if (format != kCatalogFileFormat) {
    return malformed("the catalog file has format " + std::to_string(format) +
                     ", this kiln reads " + std::to_string(kCatalogFileFormat))
        .hint("build it with the kiln of the runtime's release");
  }
  if (file_size != file.size()) {
    return damaged("it has " + std::to_string(file.size()) + " bytes, its head says " +
                   std::to_string(file_size));
  }
  if (table_size < kCatalogFileHeadSize || table_size > file.size()) {
    return damaged("its table does not lie in it");
  }
  const auto table_end = static_cast<std::size_t>(table_size);
  const Digest digest = sha256(file.first(table_end).subspan(kCatalogFileHeadSize));
  if (!std::ranges::equal(table_digest, std::as_bytes(std::span(digest.bytes)))) {
    return damaged("its table is not what was written");
  }
  if (minimum_runtime > KILN_VERSION) {
    return malformed("the catalog file needs kiln " + version_text(minimum_runtime) + " or newer")
        .hint("update the runtime, or lower minimum_runtime in the manifest");
  }
  Result<CatalogFileContents> contents = TableReader(file, table_end).read();
  if (!contents) return contents;
  const std::string hex = digest.hex();
  contents->digest.assign(hex.c_str(), hex.c_str() + hex.size() + 1);
  contents->catalog.digest = contents->digest.data();
  contents->minimum_runtime = minimum_runtime;
  return contents;
}

}  // namespace kiln
