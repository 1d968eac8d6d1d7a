// inspect: reads images back, so that a build knows what was really made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/image.hpp"
#include "kiln/result.hpp"
#include "tools/model/artifact.hpp"
#include "tools/model/plan.hpp"

namespace kiln::tools {

// Makes the artifact of a compile step: parses its image and adds what only the compiler's log
// tells (spills of a cubin). `digest` is the digest of the bytes. The error is kBuildFailed if the
// bytes are not an image.
Result<Artifact> inspect_output(const Step& step, const TargetId& target, std::string bytes,
                                const Digest& digest, std::string log);

// An image in a file: the file itself, or an entry of a container at any depth.
struct FoundImage {
  std::string entry;  // name of the entry; empty for the file itself; "outer / inner" if nested
  ImageInfo info;
  std::size_t size = 0;  // bytes
};

struct InspectedFile {
  FileKind kind = FileKind::kUnknown;
  std::uint32_t version = 0;         // version of a container
  std::vector<std::string> entries;  // names in a container, in file order, including host entries
  std::vector<FoundImage> images;    // in file order
};

// The error is kInvalidInput and names the entry that cannot be read.
Result<InspectedFile> inspect_file(Bytes file);

// Fills in what `info` lacks and the log of ptxas tells.
void add_ptxas_log(ImageInfo& info, std::string_view log);

}  // namespace kiln::tools
