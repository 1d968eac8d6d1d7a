#include <cstring>

#include "base/digest.hpp"
#include "formats/catalog_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

void little(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
}

void put_text(std::string& out, std::string_view text) {
  little(out, text.size(), 4);
  out += text;
  out += '\0';
}

// Returns a file with a table that starts at 64, followed by the images.
std::string file_of(const std::string& table, const std::string& images) {
  std::string file(kCatalogFileMagic);
  little(file, kCatalogFileFormat, 4);
  little(file, 0, 4);
  little(file, kCatalogFileHeadSize + table.size() + images.size(), 8);
  little(file, kCatalogFileHeadSize + table.size(), 8);
  const Digest digest = sha256(table);
  file.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
  return file + table + images;
}

void read(std::string_view file) {
  const auto contents = read_catalog_file(as_bytes(file));
  if (!contents) return promise(!contents.error().message.empty(), "an error without a text");
  // Everything that was read lies within the file.
  const auto is_inside = [&](const char* data, std::size_t size) {
    return data >= file.data() && data + size <= file.data() + file.size();
  };
  for (const ModuleEntry* module : contents->catalog.modules) {
    promise(is_inside(module->name.data(), module->name.size()), "a name outside of the file");
    for (std::size_t i = 0; i < module->kernels.size(); ++i) {
      const KernelEntry& kernel = module->kernels[i];
      promise(kernel.unit < module->unit_count, "a kernel of no unit");
      promise(module->find(kernel.name) == static_cast<std::ptrdiff_t>(i),
              "a kernel that is not found");
      for (const ParameterText& text : contents->texts(module->id, i)) {
        promise(text.type.data()[text.type.size()] == '\0', "a text that does not end");
      }
    }
    for (const ImageEntry& image : module->images) {
      promise(is_inside(reinterpret_cast<const char*>(image.data), image.stored_size),
              "an image outside of the file");
    }
  }
}

}  // namespace

FUZZ_TARGET(catalog_file, data, size) {
  const std::string_view input = text_of(data, size);
  read(input);
  // The same table with a head that matches it.
  if (size <= kCatalogFileHeadSize) return;
  std::uint64_t table = 0;
  std::memcpy(&table, data + 24, sizeof table);
  const std::string_view rest = input.substr(kCatalogFileHeadSize);
  const std::size_t inner =
      table < size && table > kCatalogFileHeadSize ? table - kCatalogFileHeadSize : rest.size();
  read(file_of(std::string(rest.substr(0, inner)), std::string(rest.substr(inner))));
}

FUZZ_SEEDS(catalog_file) {
  std::string empty;
  put_text(empty, "nothing");
  little(empty, 0, 12);

  const auto table_with_image_at = [](std::uint64_t offset) {
    std::string table;
    put_text(table, "demo");
    little(table, 1, 4);
    put_text(table, "sm_90");
    little(table, 0, 4);
    little(table, 1, 4);
    put_text(table, "affine");
    little(table, 7, 8);
    little(table, 1, 2);
    little(table, 1, 4);
    put_text(table, "affine_f32");
    little(table, 0, 2);
    little(table, 2, 4);
    little(table, 0 | 8 << 16, 4);
    little(table, 2, 1);
    put_text(table, "const f32*");
    put_text(table, "inp");
    little(table, 8 | 4 << 16, 4);
    little(table, 1, 1);
    put_text(table, "f32");
    put_text(table, "mul");
    little(table, 1, 4);
    put_text(table, "sm_90");
    little(table, 1, 1);  // cubin
    little(table, 0, 5);  // plain, unit 0, no PTX
    little(table, offset, 8);
    little(table, 4, 8);
    little(table, 4, 8);
    little(table, 9, 8);
    const Digest digest = sha256(std::string_view("code"));
    table.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
    return table;
  };
  const std::size_t end = kCatalogFileHeadSize + table_with_image_at(0).size();
  const std::size_t offset = (end + 63) / 64 * 64;
  return {file_of(empty, ""),
          file_of(table_with_image_at(offset), std::string(offset - end, '\0') + "code")};
}
