// The plan: every step that a build would run, as values that can be printed, compared and hashed.
//
// stages/make_plan makes it, and engine/execute runs it. A step is a pure function of its inputs:
// equal inputs give equal bytes, in any folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/toolchain.hpp"

namespace kiln::tools {

enum class StepKind : std::uint8_t {
  kHipify,   // CUDA source or header -> HIP, under out/hip
  kCompile,  // one source, or its PTX, one target -> one raw image
  kBundle,   // all AMD images of a module -> bundles/<module>.hsaco
  kFatbin,   // all NVIDIA images of a module -> bundles/<module>.fatbin
  kJoin,     // all sources of a module, one target -> bundles/<module>.<target>.ptx
};
std::string_view to_string(StepKind kind);

// Paths in a step do not depend on where folders are on this machine: `{src}/...` and `{out}/...`
// stand for the two roots, `{nvcc}` and similar names for the tools, `{rocm}` and `{bitcode}` for
// folders of the toolchain (Plan::placeholders), and `{{}` for a `{` of the user's. A tool runs in
// the source root and gets relative names of files there. Other absolute paths are the user's, as
// written in the manifest.
struct Step {
  std::string id;  // "compile affine gfx1100"; unique in a plan
  StepKind kind = StepKind::kCompile;
  std::string module;  // empty for the conversion of a shared header
  std::uint16_t unit = 0;
  std::string target;  // only for compile and join
  ToolKind tool = ToolKind::kNvcc;
  std::vector<std::string> tool_roles;  // the parts of the tool that decide the output
  std::vector<std::string> argv;        // argv[0] stands for the tool: "{nvcc}"
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> inputs;   // with {src} and {out}, sorted: the inputs known in advance
  std::string output;                // with {out}
  std::string depfile;               // with {out}; empty if the tool writes none
  std::vector<std::uint32_t> after;  // steps whose outputs this one reads
};

struct Plan {
  std::filesystem::path source_root;  // the manifest's folder, absolute
  std::filesystem::path out_root;     // absolute
  // Paths for the `{name}`s that are not roots: tools by to_string(ToolKind), perl, and folders.
  std::map<std::string, std::string, std::less<>> placeholders;
  std::vector<Step> steps;  // each step comes after the steps that it reads from
};

// "{out}/images/a" -> "images/a". Other texts are returned unchanged.
std::string below_out(std::string_view neutral);
// Replaces roots and placeholders by absolute paths. Other braces stay.
std::string expand(std::string_view text, const Plan& plan);
// Replaces placeholders but not {src} and {out}.
std::string expand_placeholders(std::string_view text, const Plan& plan);
// Returns the text for a tool that runs in the source root: "{src}/a.cu" becomes "a.cu".
std::string in_source_root(std::string_view text, const Plan& plan);
// Spells the user's text so that it has no placeholders: "-DX={src}" -> "-DX={{}src}".
std::string without_placeholders(std::string_view text);

// Returns the step's argv as users can repeat it in the source root, with the real output path and
// absolute tools.
std::vector<std::string> command_line(const Step& step, const Plan& plan);

}  // namespace kiln::tools
