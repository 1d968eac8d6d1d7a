// Reads any image or container that kiln knows, told by its first bytes and never by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/byte_reader.hpp"
#include "formats/kernel_info.hpp"
#include "formats/target_id.hpp"
#include "kiln/catalog.hpp"
#include "kiln/result.hpp"

namespace kiln {

enum class FileKind : std::uint8_t {
  kUnknown,
  kHsaco,                    // ELF, machine AMDGPU
  kCubin,                    // ELF, machine CUDA
  kHost,                     // ELF for a CPU
  kPtx,                      // text with a .version directive
  kOffloadBundle,            // "__CLANG_OFFLOAD_BUNDLE__"
  kCompressedOffloadBundle,  // "CCOB"
  kFatbin,                   // 0xBA55ED50
};
FileKind detect_kind(Bytes file);
std::string_view to_string(FileKind kind);

// An image taken apart.
struct ImageInfo {
  TargetId target;
  ImageFormat format = ImageFormat::kHsaco;
  // "code object v5", "cubin abi 8", "PTX ISA 9.0"
  std::string format_version;
  std::uint16_t ptx_isa = 0;        // 10 * major + minor; PTX only
  std::vector<KernelInfo> kernels;  // sorted by name
};

// Reads a single image (kHsaco, kCubin, kPtx, kHost). Containers are an error.
// An error in PTX has line and column; its file is for the caller to fill in.
Result<ImageInfo> read_image(Bytes file);

// One entry of a container. `bytes` points into the container, or into `storage` of the Container
// when the container was compressed.
struct ContainerEntry {
  std::string name;    // the container's own spelling: "hipv4-amdgcn-amd-amdhsa--gfx1100"
  std::string target;  // empty for a host entry
  Bytes bytes;         // may be empty (the host entry)
};
struct Container {
  FileKind kind = FileKind::kUnknown;
  std::uint32_t version = 0;
  std::vector<ContainerEntry> entries;  // in file order
  std::vector<std::vector<std::byte>> storage;

  Container() = default;
  Container(Container&&) = default;
  Container& operator=(Container&&) = default;
  Container(const Container&) = delete;  // a copy's entries would point into the original's storage
  Container& operator=(const Container&) = delete;
};
// In the library kiln_containers, which brings zstd.
Result<Container> read_container(Bytes file);

}  // namespace kiln
