// inspect: reads images back, so that a build knows what it made and not what it asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/image.hpp"
#include "kiln/result.hpp"
#include "tools/model/artifact.hpp"
#include "tools/model/plan.hpp"

namespace kiln::tools {

// The artifact of a compile step: its image taken apart, with what only the compiler's log tells
// (spills of a cubin). Errors: kBuildFailed when the bytes are no image.
// `digest` is that of the bytes.
Result<Artifact> inspect_output(const Step& step, const TargetId& target, std::string bytes,
                                const Digest& digest, std::string log);

// An image found in a file: the file itself, or an entry of a container, however deep.
struct FoundImage {
  std::string entry;  // the entry's own name; "" for the file itself; "outer / inner" when nested
  ImageInfo info;
  std::size_t size = 0;  // bytes
};

struct InspectedFile {
  FileKind kind = FileKind::kUnknown;
  std::uint32_t version = 0;         // of a container
  std::vector<std::string> entries;  // of a container, in file order, host entries too
  std::vector<FoundImage> images;    // in file order
};

// Errors: kInvalidInput, with the entry's name where one cannot be read.
Result<InspectedFile> inspect_file(Bytes file);

// Fills in what the log of ptxas tells and `info` lacks.
void add_ptxas_log(ImageInfo& info, std::string_view log);

}  // namespace kiln::tools
