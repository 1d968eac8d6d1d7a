// Which parts of which tools decide a step's output. Changes of other parts do not make the output
// stale.
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
std::vector<std::string> assembler_roles();  // roles of nvcc when its input is PTX
std::vector<std::string> hipify_roles();
std::vector<std::string> packing_roles();  // roles of clang-offload-bundler and fatbinary

// Returns all roles that a build for these targets uses.
std::map<ToolKind, std::set<std::string>> roles_used(const std::vector<TargetId>& targets);

}  // namespace kiln::tools
