// The structs that a generated header consists of, and that the runtime reads.
//
// A catalog is a constant: constexpr arrays and pointers into them. Nothing is constructed at
// start-up, and nothing is freed. A generated header defines one `kiln::Catalog`, one
// `kiln::ModuleEntry` per module and one `kiln::Kernel` per kernel. All of them live as long as the
// program.
//
// Layout:  Catalog -> ModuleEntry (sorted by name; the position is the module's id)
//                       -> KernelEntry (sorted by name; the position is the kernel's index)
//                       -> ImageEntry  (sorted by unit, then by target)
// A module that is built from several sources has several *units*. An image holds the kernels of
// one unit for one target, so a loader fetches only the images that it uses.
//
// Everything here is C++17, works in constant expressions, and never changes, so threads may share
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "parameter_types.hpp"
#include "version.hpp"

namespace kiln {

template <typename T>
class Result;
class CatalogFile;

// What the bytes of an image are once they are decompressed.
enum class ImageFormat : std::uint8_t {
  kHsaco,  // AMD code object: an ELF file for one processor
  kCubin,  // NVIDIA machine code: an ELF file for one major architecture
  kPtx,    // NVIDIA assembly text, NUL-terminated, compiled by the driver
  kHost,   // a shared object for this machine's own processor
  kSource,  // not an image, but the unit's source: formats/source_bundle.hpp
};

// How the bytes of an image are stored.
enum class Compression : std::uint8_t {
  kNone,
  kZstd,  // one zstd frame that states its content size
};

// Says if an argument is an address or a plain value. NVIDIA images do not tell the two apart, so
// the kind is known only if the manifest's abi file or an AMD image of the module gives it.
enum class ParameterKind : std::uint8_t { kUnknown, kValue, kPointer };

// One kernel argument.
struct Parameter {
  std::uint16_t offset = 0;  // bytes from the start of the argument block
  std::uint16_t size = 0;    // bytes
  ParameterKind kind = ParameterKind::kUnknown;
  ElementType element = ElementType::kUnknown;  // of the value, or of what the pointer points to
  bool is_const = false;                        // true for a pointer to const

  // Describes a parameter of type T. For a T that is not a parameter type, only the size is known.
  template <typename T>
  static constexpr Parameter of(std::uint16_t offset = 0);
};

template <typename T>
constexpr Parameter Parameter::of(std::uint16_t offset) {
  constexpr std::size_t kLargest = 0xFFFF;  // far more than a kernel can take
  Parameter one;
  one.offset = offset;
  one.size = static_cast<std::uint16_t>(sizeof(T) < kLargest ? sizeof(T) : kLargest);
  if constexpr (std::is_same_v<T, std::nullptr_t>) {
    one.kind = ParameterKind::kPointer;
    one.element = ElementType::kVoid;
  } else if constexpr (std::is_pointer_v<T>) {
    using Element = std::remove_pointer_t<T>;
    one.kind = ParameterKind::kPointer;
    one.element = detail::element_type<std::remove_const_t<Element>>();
    one.is_const = std::is_const_v<Element>;
  } else {
    one.element = detail::element_type<T>();
    if (one.element != ElementType::kUnknown) one.kind = ParameterKind::kValue;
  }
  return one;
}

// A read-only view of a constant array, like std::span in C++20.
template <typename T>
class ArrayView {
 public:
  constexpr ArrayView() = default;
  constexpr ArrayView(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr ArrayView(const T (&array)[N]) : data_(array), size_(N) {}

  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

// One kernel of a module. It is the same in every image.
struct KernelEntry {
  std::string_view name;  // as the image exports it (mangled if the source mangles it)
  std::uint16_t unit = 0;
  ArrayView<Parameter> parameters;
};

// One image: the kernels of one unit for one target.
struct ImageEntry {
  std::string_view target;  // "gfx90a:xnack+", "sm_90a", "compute_80", "host"; "source" for source
  ImageFormat format = ImageFormat::kHsaco;
  Compression compression = Compression::kNone;
  std::uint16_t unit = 0;
  std::uint16_t ptx_isa = 0;             // PTX only: 10 * major + minor of `.version`, 78 for 7.8
  const unsigned char* data = nullptr;   // stored bytes
  std::size_t stored_size = 0;           // number of bytes at `data`
  std::size_t size = 0;                  // bytes once decompressed; PTX includes its final NUL
  std::uint64_t digest = 0;              // first 8 bytes, big-endian, of the SHA-256 of the image
                                         // file (PTX: without the NUL)
};

struct ModuleEntry {
  std::string_view name;
  std::uint32_t id = 0;  // position in Catalog::modules
  std::uint16_t unit_count = 1;
  ArrayView<KernelEntry> kernels;
  ArrayView<ImageEntry> images;
  // First 8 bytes, big-endian, of the SHA-256 of everything that the module is compiled from; 0 if
  // unknown. The runtime refuses images of KILN_IMAGE_PATH whose sources have another digest.
  std::uint64_t source_digest = 0;

  // Returns the index of the kernel called `kernel_name`, or -1. Kernels are sorted bytewise by
  // name.
  constexpr std::ptrdiff_t find(std::string_view kernel_name) const {
    std::size_t low = 0, high = kernels.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (kernels[middle].name < kernel_name) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < kernels.size() && kernels[low].name == kernel_name
               ? static_cast<std::ptrdiff_t>(low)
               : -1;
  }
};

struct Catalog {
  std::string_view name;          // the manifest's name
  std::string_view digest;        // SHA-256 of the generated files, in hexadecimal
  ArrayView<std::string_view> targets;          // targets of the manifest that the build holds
  ArrayView<std::string_view> missing_targets;  // targets that --allow-missing left out
  ArrayView<const ModuleEntry*> modules;        // sorted by name

  // Opens a catalog that lies in a file: <kiln/catalog_file.hpp>.
  static Result<CatalogFile> open(const std::string& path);

  // Returns the module called `module_name`, or nullptr.
  constexpr const ModuleEntry* find(std::string_view module_name) const {
    for (const ModuleEntry* module : modules) {
      if (module->name == module_name) return module;
    }
    return nullptr;
  }
};

// A kernel of a generated header, with its parameters' types as template arguments
// (parameter_types.hpp). A launch with the wrong number or types of arguments does not compile.
template <typename... Parameters>
struct Kernel {
  const ModuleEntry* module = nullptr;
  std::uint32_t index = 0;  // position in module->kernels

  static constexpr std::size_t kParameterCount = sizeof...(Parameters);
  constexpr const KernelEntry& entry() const { return module->kernels[index]; }
  constexpr std::string_view name() const { return entry().name; }

  // Returns true if arguments of these types may be passed: the right number, each of a type that
  // fits.
  template <typename... Arguments>
  static constexpr bool accepts() {
    if constexpr (sizeof...(Arguments) != sizeof...(Parameters)) {
      return false;
    } else {
      return (fits_parameter<Arguments, Parameters> && ...);
    }
  }
};

}  // namespace kiln
