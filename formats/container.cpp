// Containers, whatever their format. Apart from image.cpp, because reading a compressed one takes
// zstd.
#include "base/diagnostic.hpp"
#include "formats/fatbin.hpp"
#include "formats/image.hpp"
#include "formats/offload_bundle.hpp"

namespace kiln {

Result<Container> read_container(Bytes file) {
  const FileKind kind = detect_kind(file);
  switch (kind) {
    case FileKind::kOffloadBundle:
    case FileKind::kCompressedOffloadBundle: return read_offload_bundle(file);
    case FileKind::kFatbin: return read_fatbin(file);
    default: break;
  }
  return malformed("not a container of images: " + std::string(to_string(kind)));
}

}  // namespace kiln
