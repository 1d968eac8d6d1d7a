// A small project in its own folder, and the program, run on it with the real compilers.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "base/text.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/json/json.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/engine/find_tools.hpp"
#include "tools/system/files.hpp"
#include "tools/system/process.hpp"

namespace kiln::testing {

namespace fs = std::filesystem;

// The tools of this machine, found once in the same way as by the program.
inline const tools::Toolchain& real_toolchain() {
  static const tools::Toolchain toolchain = [] {
    const auto files = tools::real_files();
    const auto processes = tools::real_processes();
    return tools::find_tools(*files, *processes, tools::real_environment()).value();
  }();
  return toolchain;
}

inline bool has_nvidia() {
  return real_toolchain().tool(tools::ToolKind::kNvcc).found() &&
         real_toolchain().tool(tools::ToolKind::kFatbinary).found();
}
inline bool has_amd() {
  return real_toolchain().tool(tools::ToolKind::kHipCompiler).found() &&
         real_toolchain().tool(tools::ToolKind::kHipify).found() &&
         real_toolchain().tool(tools::ToolKind::kOffloadBundler).found();
}

// Two modules: affine includes shared.cuh, fill includes nothing.
class Project {
 public:
  explicit Project(fs::path root) : root_(std::move(root)) {
    std::string targets;
    if (has_amd()) targets += "\"gfx1100\", \"gfx1030\"";
    if (has_nvidia()) targets += std::string(targets.empty() ? "" : ", ") + "\"sm_80\", \"compute_80\"";
    write("targets.json", "{\n  \"format\": 1,\n  \"name\": \"demo\",\n  \"targets\": [" + targets +
                              "],\n  \"modules\": [\n"
                              "    {\"name\": \"affine\", \"sources\": [\"affine.cu\"]},\n"
                              "    {\"name\": \"fill\", \"sources\": [\"fill.cu\"]}\n  ],\n"
                              "  \"embed\": {\"header\": \"demo.hpp\", \"namespace\": \"demo\"}\n}\n");
    // With internal linkage, because compilers like to name such a function after its file.
    write("shared.cuh", "static __device__ __noinline__ float scale(float x, float a) { return x * a; }\n");
    write("affine.cu",
          "#include \"shared.cuh\"\n"
          "extern \"C\" __global__ void affine_f32(const float* x, float* y, float a, float b) {\n"
          "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  y[i] = scale(x[i], a) + b;\n}\n");
    write("fill.cu",
          "extern \"C\" __global__ void fill_f32(float* y, float a) {\n"
          "  y[blockIdx.x * blockDim.x + threadIdx.x] = a;\n}\n");
  }

  const fs::path& root() const { return root_; }
  fs::path out() const { return root_ / "out"; }

  void write(const fs::path& name, const std::string& text) const {
    REQUIRE(tools::real_files()->write(root_ / name, text));
  }
  std::string read(const fs::path& name) const {
    return tools::real_files()->read(root_ / name).value_or("(missing)");
  }

  // Environment variables for every run. KILN_CACHE_DIR is the project's own folder unless set
  // here.
  std::vector<std::pair<std::string, std::string>> environment;

  tools::Outcome kiln(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), KILN_PROGRAM);
    return run(std::move(arguments));
  }

  tools::Outcome run(std::vector<std::string> argv) const {
    tools::Command command;
    command.argv = std::move(argv);
    command.environment = {{"KILN_CACHE_DIR", (root_ / "cache").string()}};
    for (const auto& variable : environment) command.environment.push_back(variable);
    command.unset = {"KILN_CACHE", "KILN_CACHE_SIZE", "NO_COLOR"};
    command.working_directory = root_;
    return tools::real_processes()->run(command).value();
  }

  // Returns the events of `kiln build --json ...`, in order.
  std::vector<tools::Json> events(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"build", "--json"});
    const tools::Outcome outcome = kiln(std::move(arguments));
    INFO(outcome.diagnostics);
    std::vector<tools::Json> result;
    for (const std::string_view line : split(outcome.output, '\n')) {
      if (!line.empty()) result.push_back(tools::read_json(line, "event").value());
    }
    REQUIRE_FALSE(result.empty());
    return result;
  }

  // Returns every file of the out folder by name, with its bytes, except for kiln's own notes.
  std::map<std::string, std::string> outputs(const std::string& folder = "out") const {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / folder)) {
      const std::string name = entry.path().lexically_relative(root_ / folder).string();
      if (entry.is_regular_file() && !name.starts_with(".kiln/")) {
        result[name] = tools::real_files()->read(entry.path()).value();
      }
    }
    return result;
  }

 private:
  fs::path root_;
};

inline std::string text_of(const tools::Json& object, std::string_view key) {
  const tools::Json* value = object.find(key);
  return value != nullptr && value->text() != nullptr ? *value->text() : "";
}

// Returns the steps of the events of that kind, and with that status if one is given, sorted.
inline std::vector<std::string> steps_of(const std::vector<tools::Json>& events, std::string_view kind,
                                         std::string_view status = "") {
  std::vector<std::string> steps;
  for (const tools::Json& event : events) {
    if (text_of(event, "event") != kind) continue;
    if (!status.empty() && text_of(event, "status") != status) continue;
    steps.push_back(text_of(event, "step"));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace kiln::testing

// Most of these tests check the steps of both vendors.
#define KILN_NEEDS_BOTH_VENDORS()                                                       \
  if (!kiln::testing::has_amd() || !kiln::testing::has_nvidia())                        \
  SKIP("needs hipify-perl, hipcc, clang-offload-bundler, nvcc and fatbinary: see kiln doctor")
