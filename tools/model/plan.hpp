// The plan: every step that a build would run, as values that can be printed, compared and hashed.
//
// Produced by stages/plan_hipify, plan_compile and bundle; run by engine/execute. A step is a pure
// function of its inputs: same inputs, same bytes out, in any folder.
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

// Paths in a step are spelt so that no step depends on where things lie on this machine: `{src}/...`
// and `{out}/...` for the two roots, `{nvcc}` and its like for the tools, `{rocm}` and `{bitcode}` for
// folders of the toolchain (Plan::places). A tool runs in the source root, and sees what lies there
// under relative names. Other absolute paths are the user's own, as the manifest gives them.
struct Step {
  std::string id;       // "compile affine gfx1100"; unique in a plan
  StepKind kind = StepKind::kCompile;
  std::string module;   // empty for a shared header's hipify step
  std::uint16_t unit = 0;
  std::string target;   // of compile and join
  ToolKind tool = ToolKind::kNvcc;
  std::vector<std::string> tool_roles;  // the parts of the tool that decide the output
  std::vector<std::string> argv;        // argv[0] is the tool's place, "{nvcc}"
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> inputs;      // with {src} and {out}, sorted: what is known beforehand
  std::string output;                   // with {out}
  std::string depfile;                  // with {out}; empty when the tool writes none
  std::vector<std::uint32_t> after;     // steps whose outputs this one reads
};

struct Plan {
  std::filesystem::path source_root;  // the manifest's folder, absolute
  std::filesystem::path out_root;     // absolute
  // What `{name}` stands for besides the roots: each tool by to_string(ToolKind), perl, and folders.
  std::map<std::string, std::string, std::less<>> places;
  std::vector<Step> steps;  // in an order that can be run as it stands
};

// "{out}/images/a" -> "images/a"; anything else is given back as it is.
std::string below_out(std::string_view neutral);
// The text with the roots and places put in, absolute. Any other brace stands for itself.
std::string expand(std::string_view text, const Plan& plan);
// The same with {src} and {out} left as they are.
std::string expand_places(std::string_view text, const Plan& plan);
// The text as a step's tool sees it, which runs in the source root: "{src}/a.cu" is "a.cu" wherever
// the root lies.
std::string in_source_root(std::string_view text, const Plan& plan);

// The step's argv as a person would repeat it in the source root: its own output path, absolute tools.
std::vector<std::string> command_line(const Step& step, const Plan& plan);

}  // namespace kiln::tools
