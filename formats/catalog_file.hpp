// A catalog file, <name>.kiln: a whole catalog with its images in one file. Programs open it by
// path instead of including a generated header. The generator writes it
// (generator/catalog_file.hpp).
//
//   file      = head table images
//   head      = "\x7fKILNCAT" u32 format, u32 minimum runtime (KILN_VERSION form), u64 size of the file,
//               u64 size of the table, SHA-256 of the table: 64 bytes
//   table     = text name, texts targets, texts missing targets, list of module
//   module    = text name, u64 source digest, u16 units, list of kernel, list of image
//   kernel    = text name, u16 unit, list of parameter
//   parameter = u16 offset, u16 size, u8 kind, text type, text name
//   image     = text target, u8 format, u8 compression, u16 unit, u16 PTX ISA, u64 offset in the file,
//               u64 stored size, u64 size, u64 digest of the image, SHA-256 of the stored bytes
//   list      = u32 count, that many;    texts = list of text
//   text      = u32 size, that many bytes without a NUL, a NUL
//
// Integers are little-endian and unaligned. Kinds, formats and compressions have the numbers of
// kiln/catalog.hpp. Types are spelt as in formats/parameter_type.hpp and are empty if unknown.
// Orders are those of kiln/catalog.hpp. Images follow the table, each at a multiple of 64; an
// uncompressed HSACO at a multiple of 4096.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "formats/byte_reader.hpp"
#include "kiln/catalog.hpp"
#include "kiln/catalog_file.hpp"
#include "kiln/result.hpp"

namespace kiln {

inline constexpr std::string_view kCatalogFileMagic = "\x7fKILNCAT";
inline constexpr std::uint32_t kCatalogFileFormat = 1;
inline constexpr std::size_t kCatalogFileHeadSize = 64;

// A catalog file that was read. `catalog` and all texts point into the other members and into the
// file's bytes, which must outlive this object. It can be moved but not copied.
struct CatalogFileContents {
  Catalog catalog;
  std::uint32_t minimum_runtime = 0;

  // Storage of a module, by id, for what the catalog's structs only point to.
  struct ModuleStorage {
    std::vector<KernelEntry> kernels;
    std::vector<Parameter> parameters;  // of all kernels
    std::vector<ParameterText> texts;   // of the same parameters
    std::vector<ImageEntry> images;
    std::vector<Digest> stored_digests;  // of the images' stored bytes
  };
  std::vector<ModuleStorage> storage;
  std::vector<ModuleEntry> modules;
  std::vector<const ModuleEntry*> module_pointers;
  std::vector<std::string_view> targets, missing_targets;
  std::vector<char> digest;  // a vector, because moving a string may move its characters

  // Returns the texts of a kernel's parameters, in order.
  ArrayView<ParameterText> texts(std::size_t module, std::size_t kernel) const {
    const ModuleStorage& from = storage[module];
    const ArrayView<Parameter> parameters = from.kernels[kernel].parameters;
    if (parameters.empty()) return {};
    return {from.texts.data() + (parameters.data() - from.parameters.data()), parameters.size()};
  }

  CatalogFileContents() = default;
  CatalogFileContents(CatalogFileContents&&) = default;
  CatalogFileContents& operator=(CatalogFileContents&&) = default;
};

// Checks everything except the images' own bytes: the table's digest, and all sizes, bounds, orders
// and numbers. Errors: kInvalidInput, with the problem and what to do.
Result<CatalogFileContents> read_catalog_file(Bytes file);

}  // namespace kiln
