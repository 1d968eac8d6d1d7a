// A catalog in a file, <name>.kiln, instead of in the program.
//
//   auto file = kiln::Catalog::open("kernels.kiln");
//   auto affine = device->function("affine_f32", *file);
//
// `kiln build --emit catalog` writes such files. Opening a file maps it into memory and checks its
// table: digest, sizes, bounds, order. The bytes of an image are checked against their digest when
// a device first loads them. While the file is open, it may be replaced (by a rename), but not
// truncated or overwritten.
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

// Returns the name that the source gives a kernel: "saxpy<float>" for a mangled name, otherwise the
// name itself. Works for kernels of any catalog.
std::string readable_name(std::string_view name);

// A parameter's type and name, empty if unknown. All texts of an opened catalog are followed by a
// NUL.
struct ParameterText {
  std::string_view type;  // "u64", "const f32*", "ptr": spelled as in docs/MANIFEST.md
  std::string_view name;
};

// A handle to an open file; copies refer to the same file, and a move copies. A device that loads
// from the file, by Device::function(name, file) or Device::load(file), keeps it open. A program
// that passes its ModuleEntry values to a device must itself keep the file open as long as the
// device.
// Thread-safety: every member may be called from any thread.
class CatalogFile {
 public:
  CatalogFile(const CatalogFile&) = default;
  CatalogFile& operator=(const CatalogFile&) = default;

  // Errors: kEnvironment (the file cannot be read), kInvalidInput (not a catalog file, or damaged).
  static Result<CatalogFile> open(const std::string& path);

  // Opens a catalog file whose bytes are in memory, at an address that is a multiple of 4096. The
  // bytes are not copied; they must outlive every device that loads from them.
  static Result<CatalogFile> open(const void* bytes, std::size_t size);

  const Catalog& catalog() const;
  const Catalog* operator->() const { return &catalog(); }

  // Returns the types and names of the parameters of a kernel of catalog(), in their order.
  ArrayView<ParameterText> parameters(const ModuleEntry& module, std::size_t kernel) const;

  // Returns an image of catalog() as the compiler wrote it, with a NUL after PTX. Errors:
  // kInvalidInput (the bytes do not match their digest), kUnavailable (a runtime without zstd).
  Result<std::vector<std::byte>> unpack(const ImageEntry& image) const;

 private:
  friend class Device;
  explicit CatalogFile(std::shared_ptr<const runtime::CatalogFileState> state)
      : state_(std::move(state)) {}
  std::shared_ptr<const runtime::CatalogFileState> state_;
};

}  // namespace kiln
