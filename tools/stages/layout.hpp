// Where everything lies in an out folder, and how targets are spelt for the vendors' containers.
//
//   hip/<source path>                       what hipify-perl made of a source or header
//   images/<module>/<target>.<ext>          one raw image; ext: hsaco, cubin, ptx
//   bundles/<module>.hsaco, .fatbin         the vendors' own containers
//   bundles/<module>.<target>.ptx           all sources of a module in one PTX
//   include/<header>                        the generated header
//   kiln.json, compile_commands.json
//   .kiln/                                  state, logs and dependency lists of the build
// A module of several sources has a folder a unit, images/<module>/<unit>/<target>.<ext>, and bundles
// called <module>.<unit>.hsaco. A unit is called like its source without folder and extension, or
// where another source has that name, or it needs care, like that with '@' and its position: 'x@1'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/target_id.hpp"
#include "tools/model/manifest.hpp"

namespace kiln::tools {

inline constexpr std::string_view kBundleHostEntry = "host-x86_64-unknown-linux-gnu";

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+": the name of an entry of an offload bundle.
std::string bundle_entry_name(const TargetId& target);

// What a unit of a module is called; empty for the only one. Distinct within the module, letters,
// digits, '_', '.', '-' and '@' alone, and never a dot first: the name of a file or folder.
std::string unit_name(const ModuleSpec& module, std::size_t unit);

// The same places as texts with {out}.
std::string hip_path(std::string_view source);
std::string image_path(const ModuleSpec& module, std::size_t unit, const TargetId& target);
std::string depfile_path(const ModuleSpec& module, std::size_t unit, const TargetId& target);
std::string bundle_path(const ModuleSpec& module, std::size_t unit, std::string_view extension);
std::string joined_path(const ModuleSpec& module, const TargetId& target);
std::string joined_depfile_path(const ModuleSpec& module, const TargetId& target);

}  // namespace kiln::tools
