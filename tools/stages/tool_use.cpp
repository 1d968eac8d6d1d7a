#include "tools/stages/tool_use.hpp"

namespace kiln::tools {

ToolKind compiler_of(const TargetId& target) {
  switch (target.kind) {
    case TargetKind::kAmd: return ToolKind::kHipCompiler;
    case TargetKind::kCubin:
    case TargetKind::kPtx: return ToolKind::kNvcc;
    case TargetKind::kHost: break;
  }
  return ToolKind::kHostCompiler;
}

std::vector<std::string> compiler_roles(const TargetId& target) {
  switch (target.kind) {
    case TargetKind::kAmd:
      // "gfx90a" -> "90a", which names the processor's constants among the device libraries.
      return {"script", "program",        "library",
              "linker", "device-library", "device-library:" + target.processor.substr(3)};
    case TargetKind::kCubin: return {"program", "preprocessor", "cicc", "libdevice", "ptxas"};
    case TargetKind::kPtx: return {"program", "preprocessor", "cicc", "libdevice"};
    case TargetKind::kHost: break;
  }
  return {"program", "library", "compiler", "assembler", "linker", "libgcc", "linked"};
}

std::vector<std::string> assembler_roles() { return {"program", "ptxas"}; }

std::vector<std::string> hipify_roles() { return {"program", "interpreter"}; }

std::vector<std::string> packing_roles() { return {"program", "library"}; }

std::map<ToolKind, std::set<std::string>> roles_used(const std::vector<TargetId>& targets) {
  std::map<ToolKind, std::set<std::string>> used;
  const auto use = [&](ToolKind tool, const std::vector<std::string>& roles) {
    used[tool].insert(roles.begin(), roles.end());
  };
  for (const TargetId& target : targets) {
    use(compiler_of(target), compiler_roles(target));
    if (target.kind == TargetKind::kAmd) {
      use(ToolKind::kHipify, hipify_roles());
      use(ToolKind::kOffloadBundler, packing_roles());
    } else if (target.kind != TargetKind::kHost) {
      use(ToolKind::kFatbinary, packing_roles());
    }
  }
  return used;
}

}  // namespace kiln::tools
