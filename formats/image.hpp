// Reads any image or container that kiln knows. The first bytes decide the kind, never the name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// A parsed image.
struct ImageInfo {
  TargetId target;
  ImageFormat format = ImageFormat::kHsaco;
  // "code object v5", "cubin abi 8", "PTX ISA 9.0"
  std::string format_version;
  std::uint16_t ptx_isa = 0;        // 10 * major + minor; only for PTX
  std::vector<KernelInfo> kernels;  // sorted by name
};

// Reads a single image (kHsaco, kCubin, kPtx, kHost). A container is an error. An error in PTX has
// a line and a column; the caller fills in the file.
Result<ImageInfo> read_image(Bytes file);

// One entry of a container. `bytes` are valid only during the visit: those of a compressed entry
// are freed before the next one is decompressed.
struct ContainerEntry {
  std::string name;    // the container's own spelling: "hipv4-amdgcn-amd-amdhsa--gfx1100"
  std::string target;  // empty for a host entry
  Bytes bytes;         // may be empty (the host entry)
};
using VisitEntry = std::function<Result<void>(const ContainerEntry&)>;

struct ContainerHead {
  FileKind kind = FileKind::kUnknown;
  std::uint32_t version = 0;
};

// Limit of a frame's decompressed size, as a multiple of its own. Kernels reach about fifty.
inline constexpr std::uint64_t kMaxExpansion = 256;

// Calls `visit` with each entry, in file order. An error from `visit` ends the iteration and is
// returned. `content_limit` is the number of bytes that one frame may decompress to; it matters for
// a container that was itself decompressed. Part of the library kiln_containers, which needs zstd.
Result<ContainerHead> read_container(Bytes file, const VisitEntry& visit,
                                     std::uint64_t content_limit = ~std::uint64_t{0});

}  // namespace kiln
