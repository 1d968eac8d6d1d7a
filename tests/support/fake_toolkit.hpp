// A project of two modules with a compiler and a bundler that are functions over FakeFiles.
//
// A source consists of lines, each `#include "file"` (relative to the source root) or text. The
// output of the compiler is "<target>:" and the text of the source with its includes; it also
// writes a depfile. A source that contains the word "broken" does not compile. The output of the
// bundler is its inputs, one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tools/model/plan.hpp"

namespace kiln::testing {

class FakeToolkit {
 public:
  FakeFiles files;
  FakeProcesses processes;
  tools::Toolchain toolchain;
  tools::Plan plan{.source_root = "/src", .out_root = "/src/out", .placeholders = {}, .steps = {}};

  std::function<void()> on_compile;  // called at the start of each compile

  FakeToolkit() {
    for (int kind = 0; kind <= static_cast<int>(tools::ToolKind::kHostCompiler); ++kind) {
      tools::Tool tool;
      tool.kind = static_cast<tools::ToolKind>(kind);
      toolchain.tools.push_back(tool);
    }
    set_tool(tools::ToolKind::kNvcc, "/cuda/nvcc", {{"cicc", "/cuda/cicc"}, {"ptxas", "/cuda/ptxas"}});
    set_tool(tools::ToolKind::kFatbinary, "/cuda/fatbinary", {{"program", "/cuda/fatbinary"}});
    processes.add("/cuda/nvcc", [this](const tools::Command& command) { return compile(command); });
    processes.add("/cuda/fatbinary", [this](const tools::Command& command) { return bundle(command); });
    must(files.write("/src/affine.cu", "#include \"shared.cuh\"\naffine\n"));
    must(files.write("/src/fill.cu", "fill\n"));
    must(files.write("/src/shared.cuh", "shared\n"));
    for (const char* module : {"affine", "fill"}) {
      std::vector<std::uint32_t> images;
      for (const char* target : {"compute_80", "sm_80"}) {
        images.push_back(static_cast<std::uint32_t>(plan.steps.size()));
        plan.steps.push_back(compile_step(module, target));
      }
      plan.steps.push_back(bundle_step(module, images));
    }
  }

  tools::Step& step(std::string_view id) {
    for (tools::Step& step : plan.steps) {
      if (step.id == id) return step;
    }
    throw std::runtime_error("no step of that name");
  }

  // Returns the ids of the steps that ran. An id is the last word of argv here.
  std::vector<std::string> ran() const {
    std::vector<std::string> ids;
    for (const tools::Command& command : processes.ran()) ids.push_back(command.argv.back());
    std::sort(ids.begin(), ids.end());
    return ids;
  }

 private:
  static void must(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().message);
  }

  void set_tool(tools::ToolKind kind, std::string path, std::vector<tools::Tool::Part> parts) {
    tools::Tool& tool = toolchain.tools[static_cast<std::size_t>(kind)];
    tool.path = std::move(path);
    tool.parts = std::move(parts);
    for (const tools::Tool::Part& part : tool.parts) must(files.write(part.path, part.role));
  }

  static tools::Step compile_step(const std::string& module, const std::string& target) {
    tools::Step step;
    step.id = "compile " + module + " " + target;
    step.kind = tools::StepKind::kCompile;
    step.module = module;
    step.target = target;
    step.tool = tools::ToolKind::kNvcc;
    step.tool_roles = {"cicc"};
    if (target.starts_with("sm_")) step.tool_roles.push_back("ptxas");
    step.inputs = {"{src}/" + module + ".cu"};
    step.output = "{out}/images/" + module + "/" + target;
    step.depfile = step.output + ".d";
    step.argv = {"/cuda/nvcc", "-O3", target, step.inputs[0], step.output, step.depfile,
                 std::string(tools::kSourceNameOption) + "," + module, step.id};
    return step;
  }

  static tools::Step bundle_step(const std::string& module, std::vector<std::uint32_t> after) {
    tools::Step step;
    step.id = "fatbin " + module;
    step.kind = tools::StepKind::kFatbin;
    step.module = module;
    step.tool = tools::ToolKind::kFatbinary;
    step.tool_roles = {"program"};
    step.inputs = {"{out}/images/" + module + "/compute_80", "{out}/images/" + module + "/sm_80"};
    step.output = "{out}/bundles/" + module + ".fatbin";
    step.argv = {"/cuda/fatbinary", "--create=" + step.output, step.inputs[0], step.inputs[1], step.id};
    step.after = std::move(after);
    return step;
  }

  tools::Outcome compile(const tools::Command& command) {
    if (on_compile) on_compile();
    const std::string& target = command.argv[2];
    std::string text = target + ":";
    std::string depfile = "out:";
    const Result<void> read = preprocess(command.working_directory, command.argv[3], text, depfile);
    tools::Outcome outcome;
    outcome.duration = std::chrono::milliseconds(10);
    if (!read || text.find("broken") != std::string::npos) {
      outcome.exit_code = 1;
      outcome.diagnostics = command.argv[3] + "(1): error: broken\n";
      return outcome;
    }
    outcome.diagnostics = "ptxas info: " + target + "\n";
    if (!files.write(command.argv[4], text) || !files.write(command.argv[5], depfile + "\n")) {
      outcome.exit_code = 2;
    }
    return outcome;
  }

  Result<void> preprocess(const std::filesystem::path& folder, const std::string& name,
                          std::string& text, std::string& depfile) {
    depfile += " " + name;
    const Result<std::string> source = files.read(folder / name);
    if (!source) return source.error();
    for (const std::string_view line : split(*source, '\n')) {
      constexpr std::string_view kInclude = "#include \"";
      if (line.starts_with(kInclude)) {
        const std::string_view included = line.substr(kInclude.size());
        auto result = preprocess(folder, std::string(included.substr(0, included.size() - 1)),
                                       text, depfile);
        if (!result) return result;
      } else {
        text.append(line).append(";");
      }
    }
    return {};
  }

  tools::Outcome bundle(const tools::Command& command) {
    tools::Outcome outcome;
    outcome.duration = std::chrono::milliseconds(2);
    std::string bytes;
    for (const std::size_t input : {2u, 3u}) {
      const Result<std::string> image = files.read(command.argv[input]);
      if (!image) outcome.exit_code = 1;
      bytes += image.value_or("") + "|";
    }
    const std::string output = command.argv[1].substr(command.argv[1].find('=') + 1);
    if (outcome.ok() && !files.write(output, bytes)) outcome.exit_code = 2;
    return outcome;
  }
};

}  // namespace kiln::testing
