// The plan: every step that a build would run, as values that can be printed, compared and hashed.
//
// Produced by stages/plan_hipify, plan_compile and bundle; run by stages/execute. A step is a pure
// function of its inputs: same inputs, same bytes out, in any folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/toolchain.hpp"

namespace kiln::tools {

enum class StepKind : std::uint8_t {
  kHipify,   // CUDA source or header -> HIP, under out/hip
  kCompile,  // one source, one target -> one raw image
  kBundle,   // all AMD images of a module -> bundles/<module>.hsaco
  kFatbin,   // all NVIDIA images of a module -> bundles/<module>.fatbin
};
std::string_view to_string(StepKind kind);

// Paths in a step are either absolute (tools, system headers) or relative to one of two roots, spelt
// so that no step depends on where the roots lie. argv holds them in the form that the working
// directory (the out folder) makes true; `{src}` and `{out}` stand for the roots in printed plans and
// in keys.
struct Step {
  std::string id;       // "compile affine gfx1100"; unique in a plan
  StepKind kind = StepKind::kCompile;
  std::string module;   // empty for a shared header's hipify step
  std::uint16_t unit = 0;
  std::string target;   // empty for hipify, bundle, fatbin
  ToolKind tool = ToolKind::kNvcc;
  std::vector<std::string> tool_roles;  // the parts of the tool that decide the output
  std::vector<std::string> argv;        // with {src} and {out}
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> inputs;      // with {src} and {out}, sorted: what is known beforehand
  std::string output;                   // with {out}
  std::string depfile;                  // with {out}; empty when the tool writes none
  std::vector<std::uint32_t> after;     // steps whose outputs this one reads
};

struct Plan {
  std::filesystem::path source_root;  // the manifest's folder, absolute
  std::filesystem::path out_root;     // absolute
  std::vector<Step> steps;            // in an order that can be run as it stands
};

// `{src}/a` and `{out}/b` with the roots put in, absolute.
std::string expand(std::string_view text, const Plan& plan);

}  // namespace kiln::tools
