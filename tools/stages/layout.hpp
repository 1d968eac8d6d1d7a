// The layout of an out folder, and the names of targets in the vendors' containers.
//
//   hip/<source path>                       what hipify-perl made of a source or header
//   images/<module>/<target>.<ext>          one raw image; ext: hsaco, cubin, ptx
//   bundles/<module>.hsaco, .fatbin         the vendors' own containers
//   bundles/<module>.<target>.ptx           all sources of a module in one PTX
//   include/<header>                        the generated header
//   kiln.json, compile_commands.json
//   .kiln/                                  state, logs and dependency lists of the build
// A module with several sources has a folder per unit, images/<module>/<unit>/<target>.<ext>, and
// bundles named <module>.<unit>.hsaco. The name of a unit is its source's file name without
// extension. If that is not unique or has special characters, '@' and the unit's position are
// added: 'x@1'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/target_id.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

// What begins the path of a converted file in a plan, and of a generated header in the out folder.
inline constexpr std::string_view kHipFolder = "{out}/hip/";
inline constexpr std::string_view kIncludeFolder = "include/";

inline constexpr std::string_view kBundleHostEntry = "host-x86_64-unknown-linux-gnu";

// Returns the name of a target's entry in an offload bundle:
// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+".
std::string bundle_entry_name(const TargetId& target);

// Returns the name of a unit; empty if it is the only one of its module. Unique within the module,
// and safe as the name of a file or folder: only letters, digits, '_', '.', '-' and '@', and no
// leading dot.
std::string unit_name(const ModuleSpec& module, std::size_t unit);

// These functions return the paths of files in the out folder, beginning with {out}.
std::string hip_path(std::string_view source);
std::string image_path(const ModuleSpec& module, std::size_t unit, const TargetId& target);
std::string depfile_path(const ModuleSpec& module, std::size_t unit, const TargetId& target);
std::string bundle_path(const ModuleSpec& module, std::size_t unit, std::string_view extension);
std::string joined_path(const ModuleSpec& module, const TargetId& target);
std::string joined_depfile_path(const ModuleSpec& module, const TargetId& target);

}  // namespace kiln::tools
