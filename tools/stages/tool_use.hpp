// Which parts of which tools decide what a step makes. A tool's other parts may change without
// making its outputs stale.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/target_id.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

ToolKind compiler_of(const TargetId& target);
std::vector<std::string> compiler_roles(const TargetId& target);
std::vector<std::string> assembler_roles();  // of nvcc where it is given PTX
std::vector<std::string> hipify_roles();
std::vector<std::string> packing_roles();  // of clang-offload-bundler and fatbinary

// All of a build for these targets.
std::map<ToolKind, std::set<std::string>> roles_used(const std::vector<TargetId>& targets);

}  // namespace kiln::tools
