// Reads containers of any format. Separate from image.cpp, because reading a compressed container
// needs zstd.
#include "base/diagnostic.hpp"
#include "formats/fatbin.hpp"
#include "formats/image.hpp"
#include "formats/offload_bundle.hpp"

namespace kiln {

Result<ContainerHead> read_container(Bytes file, const VisitEntry& visit,
                                     std::uint64_t content_limit) {
  const FileKind kind = detect_kind(file);
  switch (kind) {
    case FileKind::kOffloadBundle:
    case FileKind::kCompressedOffloadBundle: return read_offload_bundle(file, visit, content_limit);
    case FileKind::kFatbin: return read_fatbin(file, visit, content_limit);
    default: break;
  }
  return malformed("not a container of images: " + std::string(to_string(kind)));
}

}  // namespace kiln
