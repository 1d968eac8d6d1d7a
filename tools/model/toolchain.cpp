#include "tools/model/toolchain.hpp"

#include <array>

namespace kiln::tools {

std::string_view to_string(ToolKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "hipify-perl", "hipcc", "clang-offload-bundler", "nvcc", "fatbinary", "host-compiler"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_hipcc(const std::filesystem::path& program) {
  return program.filename().string().find("clang") == std::string::npos;
}

std::string correction(const Tool& tool) {
  // Other programs also read CXX and accept "ccache g++" in it.
  return "correct " + tool.named_by + ", or " +
         (tool.named_by == tool.own_variable ? "unset it" : "name one for kiln alone: " + tool.own_variable);
}

std::string shortcoming(const Tool& tool) {
  if (tool.kind != ToolKind::kNvcc || !tool.found() || tool.takes_source_name) return {};
  return "it does not take -Xcicc " + std::string(kSourceNameOption) +
         ": its images may differ from folder to folder";
}

}  // namespace kiln::tools
