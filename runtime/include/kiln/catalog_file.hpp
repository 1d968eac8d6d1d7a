// A catalog that lies in a file, <name>.kiln, instead of in the program.
//
//   auto file = kiln::Catalog::open("kernels.kiln");
//   auto affine = device->function("affine_f32", *file);
//
// `kiln build --emit catalog` writes such files. Opening one maps it into memory and checks its
// table: digest, sizes, bounds, orders. An image's bytes are held to their digest when a device
// first loads them. The file may be replaced (by a rename) while it is open, but not cut short or
// written to.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog.hpp"
#include "result.hpp"

namespace kiln {

namespace runtime {
class CatalogFileState;
}

// What the source calls a kernel of any catalog: "saxpy<float>" of a mangled name, else the name itself.
std::string readable_name(std::string_view name);

// What the file tells of a parameter beyond its place; empty where nothing told it. All texts of an
// opened catalog end with a NUL.
struct ParameterText {
  std::string_view type;  // "u64", "const f32*", "ptr": as docs/MANIFEST.md spells them
  std::string_view name;
};

// A handle to the open file; copies mean the same one. A device that loads from it, by
// Device::function(name, file) or Device::load(file), keeps it open. Whoever passes its ModuleEntry
// values to a device keeps it open himself, as long as the device.
// Thread-safety: everything.
class CatalogFile {
 public:
  // Errors: kEnvironment (it cannot be read), kInvalidInput (it is no such file, or damaged).
  static Result<CatalogFile> open(const std::string& path);

  // The bytes of such a file, at an address that is a multiple of 4096. They are not copied, and
  // outlive every device that loads from them.
  static Result<CatalogFile> open(const void* bytes, std::size_t size);

  const Catalog& catalog() const;
  const Catalog* operator->() const { return &catalog(); }

  // What is told of the parameters of a kernel of catalog(), in their order.
  ArrayView<ParameterText> parameters(const ModuleEntry& module, std::size_t kernel) const;

  // An image of catalog() as the compiler wrote it, PTX with a NUL behind it. Errors: kInvalidInput
  // (its bytes are not what was written), kUnavailable (a runtime without zstd).
  Result<std::vector<std::byte>> unpack(const ImageEntry& image) const;

 private:
  friend class Device;
  explicit CatalogFile(std::shared_ptr<const runtime::CatalogFileState> state)
      : state_(std::move(state)) {}
  std::shared_ptr<const runtime::CatalogFileState> state_;
};

}  // namespace kiln
