#include "tools/stages/inspect.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/ptxas_log.hpp"

namespace kiln::tools {
namespace {

// Containers may be nested. In practice, the deepest is a fat binary in a bundle.
constexpr int kMaxDepth = 3;

bool is_container(FileKind kind) {
  return kind == FileKind::kOffloadBundle || kind == FileKind::kCompressedOffloadBundle ||
         kind == FileKind::kFatbin;
}

// `content_limit` is the maximum number of bytes that one frame of the file may decompress to.
Result<void> find_images(Bytes file, const std::string& entry, int depth,
                         std::uint64_t content_limit, InspectedFile& result) {
  if (!is_container(detect_kind(file))) {
    Result<ImageInfo> info = read_image(file);
    if (!info) {
      Error error = std::move(info).error();
      if (!entry.empty()) error.note("in the entry " + quote(entry));
      return error;
    }
    result.images.push_back({.entry = entry, .info = std::move(*info), .size = file.size()});
    return {};
  }
  if (depth == kMaxDepth) {
    return Error{
        .code = ErrorCode::kInvalidInput,
        .message = "containers are nested more than " + std::to_string(kMaxDepth) + " deep"};
  }
  const VisitEntry visit = [&](const ContainerEntry& inner) -> Result<void> {
    const std::string name = entry.empty() ? inner.name : entry + " / " + inner.name;
    if (depth == 0) result.entries.push_back(inner.name);
    if (inner.bytes.empty()) return {};
    return find_images(inner.bytes, name, depth + 1, content_limit, result);
  };
  KILN_TRY_ASSIGN(const ContainerHead container, read_container(file, visit, content_limit));
  if (depth == 0) result.version = container.version;
  return {};
}

}  // namespace

void add_ptxas_log(ImageInfo& info, std::string_view log) {
  const std::vector<PtxasKernel> logged = parse_ptxas_log(log);
  const std::string target = to_string(info.target);
  for (KernelInfo& kernel : info.kernels) {
    const auto found = std::find_if(logged.begin(), logged.end(), [&](const PtxasKernel& entry) {
      return entry.name == kernel.name && entry.target == target;
    });
    if (found == logged.end()) continue;
    kernel.spill_stores = found->spill_store_bytes;
    kernel.spill_loads = found->spill_load_bytes;
    if (!kernel.registers) kernel.registers = found->registers;
    if (!kernel.stack_bytes) kernel.stack_bytes = found->stack_bytes;
  }
}

Result<Artifact> inspect_output(const Step& step, const TargetId& target, std::string bytes,
                                const Digest& digest, std::string log) {
  Artifact artifact;
  artifact.module = step.module;
  artifact.unit = step.unit;
  artifact.target = target;
  artifact.path = below_out(step.output);
  Result<ImageInfo> info = read_image(std::as_bytes(std::span(bytes)));
  if (!info) {
    Error error = std::move(info).error();
    error.code = ErrorCode::kBuildFailed;
    if (error.where.line != 0) error.where.file = artifact.path;
    error.note("in " + quote(artifact.path) + ", the output of " + quote(step.id));
    if (target.kind == TargetKind::kHost) {
      error.hint(
          "a source for the host includes device/platform.cuh, and makes its kernels by "
          "KILN_KERNEL: docs/HOST.md");
    }
    return error;
  }
  artifact.info = std::move(*info);
  if (artifact.info.format == ImageFormat::kCubin) add_ptxas_log(artifact.info, log);
  artifact.digest = digest;
  artifact.bytes = std::move(bytes);
  artifact.tool_log = std::move(log);
  return artifact;
}

Result<InspectedFile> inspect_file(Bytes file) {
  InspectedFile result;
  result.kind = detect_kind(file);
  KILN_TRY(find_images(file, "", 0, kMaxExpansion * file.size(), result));
  return result;
}

}  // namespace kiln::tools
