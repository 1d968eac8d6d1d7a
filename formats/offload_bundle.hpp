// Offload bundles, into which hipcc and clang-offload-bundler pack code objects for several
// targets.
//
//   "__CLANG_OFFLOAD_BUNDLE__"
//   u64 count, then `count` times {u64 offset, u64 size, u64 length, char id[length]}
//   the code objects, at offsets from the start of the magic, often aligned to 4096
//
//   id = kind "-" triple "-" environment ["-" target]
//        "host-x86_64-unknown-linux-gnu-"   "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"
//   The environment is usually empty, hence the two dashes before the target. Newer compilers
//   write it out: "hip-amdgcn-amd-amdhsa-unknown-gfx1100".
//
// A compressed bundle is a header followed by the compressed bytes of such a bundle:
//
//   "CCOB", u16 version, u16 method (0 zlib, 1 zstd)
//     version 1:  u32 content size, u64 hash                      runs to the end of the file
//     version 2:  u32 total size, u32 content size, u64 hash      total size counts from the magic
//     version 3:  u64 total size, u64 content size, u64 hash
//
// Byte order: little-endian. Spec: LLVM, "Clang Offload Bundler", sections Bundled Binary File
// Layout and Compression. Several bundles may follow one another with zeros between them, because
// each object file of a program contributes one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/image.hpp"

namespace kiln {

inline constexpr std::string_view kOffloadBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
inline constexpr std::string_view kCompressedBundleMagic = "CCOB";

// Reads one or more bundles, which may be compressed, like read_container().
Result<ContainerHead> read_offload_bundle(Bytes file, const VisitEntry& visit,
                                          std::uint64_t content_limit);

inline bool is_host_entry(std::string_view id) { return id.starts_with("host-"); }

// Returns the target in an entry's id: "gfx90a:xnack+", or empty if it has none, like a host entry.
inline std::string_view bundle_entry_target(std::string_view id) {
  if (is_host_entry(id)) return {};
  // The target follows kind, architecture, vendor, system and environment, after four or five
  // dashes depending on how the triple is written. The target itself may contain dashes
  // ("gfx11-generic"), but always starts with "gfx".
  const std::size_t target = id.find("-gfx");
  return target == std::string_view::npos ? std::string_view() : id.substr(target + 1);
}

}  // namespace kiln
