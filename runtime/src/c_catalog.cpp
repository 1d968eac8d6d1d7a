// The catalog files of kiln.h, implemented with CatalogFile.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/demangle.hpp"
#include "formats/image_format.hpp"
#include "kiln/kiln.h"
#include "kiln/runtime.hpp"
#include "runtime/src/c_objects.hpp"
#include "runtime/src/no_such_kernel.hpp"

using kiln::c_interface::guarded;
using kiln::c_interface::guarded_value;

namespace {

// Returns the element at index `i` of an array of the catalog, or null.
template <typename T>
const T* at(const kiln::ArrayView<T>& array, size_t i) {
  return i < array.size() ? &array[i] : nullptr;
}

const kiln::ModuleEntry* module_of(const kiln_catalog* catalog, size_t module) {
  if (catalog == nullptr) return nullptr;
  const auto* entry = at(catalog->file->modules, module);
  return entry != nullptr ? *entry : nullptr;
}

const kiln::KernelEntry* kernel_of(const kiln_catalog* catalog, size_t module, size_t kernel) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  return entry != nullptr ? at(entry->kernels, kernel) : nullptr;
}

const kiln::ImageEntry* image_of(const kiln_catalog* catalog, size_t module, size_t image) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  return entry != nullptr ? at(entry->images, image) : nullptr;
}

kiln::Result<void> wrap(kiln::Result<kiln::CatalogFile> file, kiln_catalog** catalog) {
  KILN_TRY_ASSIGN(kiln::CatalogFile opened, std::move(file));
  *catalog = new kiln_catalog{std::move(opened)};
  return {};
}

}  // namespace

kiln_error* kiln_catalog_open(const char* path, kiln_catalog** catalog) {
  return guarded(__func__, {{"path", path}, {"catalog", catalog}},
                 [&] { return wrap(kiln::CatalogFile::open(path), catalog); });
}
kiln_error* kiln_catalog_open_memory(const void* bytes, size_t size, kiln_catalog** catalog) {
  return guarded(__func__, {{"bytes", bytes}, {"catalog", catalog}},
                 [&] { return wrap(kiln::CatalogFile::open(bytes, size), catalog); });
}
void kiln_catalog_free(kiln_catalog* catalog) { delete catalog; }

kiln_error* kiln_catalog_function(const kiln_device* device, const kiln_catalog* catalog,
                                  const char* module, const char* name, kiln_function** function) {
  return guarded(
      __func__, {{"device", device}, {"catalog", catalog}, {"name", name}, {"function", function}},
      [&]() -> kiln::Result<void> {
        KILN_TRY_ASSIGN(
            const kiln::Function found,
            device->device.function(name, catalog->file, module != nullptr ? module : ""));
        *function = new kiln_function{found};
        return {};
      });
}
kiln_error* kiln_catalog_load(const kiln_device* device, const kiln_catalog* catalog) {
  return guarded(__func__, {{"device", device}, {"catalog", catalog}},
                 [&] { return device->device.load(catalog->file); });
}

const char* kiln_catalog_name(const kiln_catalog* catalog) {
  return catalog != nullptr ? catalog->file->name.data() : "";
}
const char* kiln_catalog_digest(const kiln_catalog* catalog) {
  return catalog != nullptr ? catalog->file->digest.data() : "";
}
size_t kiln_catalog_module_count(const kiln_catalog* catalog) {
  return catalog != nullptr ? catalog->file->modules.size() : 0;
}
const char* kiln_catalog_module_name(const kiln_catalog* catalog, size_t module) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  return entry != nullptr ? entry->name.data() : nullptr;
}
size_t kiln_catalog_find_kernel(const kiln_catalog* catalog, size_t module, const char* name) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  if (entry == nullptr || name == nullptr) return SIZE_MAX;
  return guarded_value(SIZE_MAX, [&] {
    std::ptrdiff_t found = entry->find(name);
    if (found < 0) {
      const kiln::Result<std::ptrdiff_t> readable =
          kiln::runtime::find_by_readable_name(name, *entry);
      found = readable ? *readable : -1;
    }
    return found < 0 ? SIZE_MAX : static_cast<size_t>(found);
  });
}
size_t kiln_catalog_kernel_count(const kiln_catalog* catalog, size_t module) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  return entry != nullptr ? entry->kernels.size() : 0;
}
const char* kiln_catalog_kernel_name(const kiln_catalog* catalog, size_t module, size_t kernel) {
  const kiln::KernelEntry* entry = kernel_of(catalog, module, kernel);
  return entry != nullptr ? entry->name.data() : nullptr;
}
size_t kiln_catalog_kernel_readable_name(const kiln_catalog* catalog, size_t module, size_t kernel,
                                         char* text, size_t size) {
  const kiln::KernelEntry* entry = kernel_of(catalog, module, kernel);
  return guarded_value(size_t{0}, [&] {
    const std::string name = entry != nullptr ? kiln::readable_name(entry->name) : std::string();
    if (text != nullptr && size != 0) text[name.copy(text, size - 1)] = '\0';
    return name.size();
  });
}
size_t kiln_catalog_parameter_count(const kiln_catalog* catalog, size_t module, size_t kernel) {
  const kiln::KernelEntry* entry = kernel_of(catalog, module, kernel);
  return entry != nullptr ? entry->parameters.size() : 0;
}

void kiln_catalog_get_parameter(const kiln_catalog* catalog, size_t module, size_t kernel,
                                size_t parameter, kiln_parameter_info* info) {
  if (info == nullptr) return;
  *info = {"", "", 0, 0, 0};
  const kiln::KernelEntry* entry = kernel_of(catalog, module, kernel);
  if (entry == nullptr || parameter >= entry->parameters.size()) return;
  const kiln::ParameterText text =
      catalog->file.parameters(*module_of(catalog, module), kernel)[parameter];
  const kiln::Parameter& layout = entry->parameters[parameter];
  info->type = text.type.data();
  info->name = text.name.data();
  info->size = layout.size;
  info->is_pointer = layout.kind == kiln::ParameterKind::kPointer;
  info->is_value = layout.kind == kiln::ParameterKind::kValue;
}

size_t kiln_catalog_image_count(const kiln_catalog* catalog, size_t module) {
  const kiln::ModuleEntry* entry = module_of(catalog, module);
  return entry != nullptr ? entry->images.size() : 0;
}

void kiln_catalog_get_image(const kiln_catalog* catalog, size_t module, size_t image,
                            kiln_image_info* info) {
  if (info == nullptr) return;
  *info = {"", "", "", "", 0, 0, nullptr, 0, 0, 0};
  const kiln::ImageEntry* entry = image_of(catalog, module, image);
  if (entry == nullptr) return;
  info->module = module_of(catalog, module)->name.data();
  info->target = entry->target.data();
  info->format = to_string(entry->format).data();  // a string literal
  info->compression = entry->compression == kiln::Compression::kZstd ? "zstd" : "none";
  info->unit = entry->unit;
  info->ptx_isa = entry->ptx_isa;
  info->data = entry->data;
  info->stored_size = entry->stored_size;
  info->size = entry->size;
  info->digest = entry->digest;
}

kiln_error* kiln_catalog_unpack(const kiln_catalog* catalog, size_t module, size_t image,
                                void* bytes, size_t size) {
  return guarded(__func__, {{"catalog", catalog}, {"bytes", bytes}}, [&]() -> kiln::Result<void> {
    const kiln::ImageEntry* entry = image_of(catalog, module, image);
    if (entry == nullptr) {
      return kiln::Error{kiln::ErrorCode::kNotFound,
                         "the catalog has no image " + std::to_string(image) + " of module " +
                             std::to_string(module),
                         {},
                         {}};
    }
    if (size != entry->size) {
      return kiln::Error{kiln::ErrorCode::kInvalidInput,
                         "the image has " + std::to_string(entry->size) +
                             " bytes, room was given for " + std::to_string(size),
                         {},
                         {}};
    }
    KILN_TRY_ASSIGN(const std::vector<std::byte> unpacked, catalog->file.unpack(*entry));
    std::ranges::copy(unpacked, static_cast<std::byte*>(bytes));
    return {};
  });
}
