#include "tools/commands/step.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/engine/run_step.hpp"
#include "tools/engine/tool_messages.hpp"
#include "tools/stages/depfile.hpp"
#include "tools/system/file_digests.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

template <typename Kind, std::size_t count>
Result<Kind> kind_named(std::string_view option, const std::string& name,
                        const std::array<Kind, count>& kinds) {
  std::vector<std::string> names;
  for (const Kind kind : kinds) {
    if (to_string(kind) == name) return kind;
    names.emplace_back(to_string(kind));
  }
  return Error{ErrorCode::kInvalidInput, std::string(option) + " cannot be " + quote(name)}.hint(
      "it is one of " + join(names, ", "));
}

// Replaces the out folder's path anywhere in a word: "/abs/out/images/a" -> "{out}/images/a".
std::string with_neutral_out(std::string word, const Plan& plan) {
  const std::string folder = plan.out_root.string() + "/";
  for (std::size_t at = word.find(folder); at != std::string::npos; at = word.find(folder, at)) {
    word.replace(at, folder.size(), "{out}/");
  }
  return word;
}

Result<std::string> below_out(std::string_view option, const fs::path& path, const Plan& plan,
                              const World& world) {
  const std::string neutral = with_neutral_out(world.environment.absolute(path).string(), plan);
  if (neutral.starts_with("{out}/")) return neutral;
  return Error{ErrorCode::kInvalidInput, std::string(option) + " " + quote(path.string()) +
                                             " is not below the out folder " +
                                             quote(plan.out_root.string())};
}

Result<Step> step_of(const StepOptions& options, const Plan& plan, const World& world) {
  Step step;
  KILN_TRY_ASSIGN(step.kind,
                  kind_named("--kind", options.kind,
                             std::array{StepKind::kHipify, StepKind::kCompile, StepKind::kBundle,
                                        StepKind::kFatbin, StepKind::kJoin}));
  KILN_TRY_ASSIGN(step.tool, kind_named("--tool", options.tool,
                                        std::array{ToolKind::kHipify, ToolKind::kHipCompiler,
                                                   ToolKind::kOffloadBundler, ToolKind::kNvcc,
                                                   ToolKind::kFatbinary, ToolKind::kHostCompiler}));
  step.id = options.id;
  KILN_TRY_ASSIGN(step.output, below_out("--output", options.output, plan, world));
  if (!options.depfile.empty()) {
    KILN_TRY_ASSIGN(step.depfile, below_out("--depfile", options.depfile, plan, world));
  }
  if (step.kind == StepKind::kHipify) {
    if (options.source.empty()) {
      return Error{ErrorCode::kInvalidInput, "a hipify step needs --source"};
    }
    step.inputs = {"{src}/" + options.source};
  }
  for (const fs::path& path : options.converted) {
    KILN_TRY_ASSIGN(std::string input, below_out("--converted", path, plan, world));
    step.inputs.push_back(std::move(input));
  }
  std::ranges::sort(step.inputs);
  for (const std::string& variable : options.variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::kInvalidInput, "--set cannot be " + quote(variable)}.hint(
          "it is NAME=VALUE");
    }
    step.environment.emplace_back(variable.substr(0, equals),
                                  without_placeholders(variable.substr(equals + 1)));
  }
  for (const std::string& word : options.command) {
    step.argv.push_back(with_neutral_out(without_placeholders(word), plan));
  }
  return step;
}

// Writes the rule for Ninja. Files below Ninja's folder have relative names.
Result<void> place_depfile(const Step& step, const StepOutput& output, const Plan& plan,
                           const fs::path& folder, Files& files) {
  const auto shown = [&](const std::string& neutral) {
    const fs::path path = expand(neutral, plan);
    const fs::path inner = path.lexically_relative(folder);
    return (inner.empty() || *inner.begin() == ".." ? path : inner).string();
  };
  std::vector<std::string> read;
  for (const auto& [path, digest] : output.dependencies) read.push_back(shown(path));
  KILN_TRY_ASSIGN(const std::string rule, write_depfile(shown(step.output), read));
  return files.write(expand(step.depfile, plan), rule);
}

}  // namespace

Result<int> run_step_command(const StepOptions& options, World& world) {
  Plan plan;
  plan.source_root = world.environment.absolute(options.source_root);
  plan.out_root = world.environment.absolute(options.out);
  KILN_TRY_ASSIGN(const Step step, step_of(options, plan, world));
  // The step sees only the variables named on its command line, and PATH.
  Environment environment = world.environment;
  environment.variables.clear();
  if (const auto path = world.environment.get("PATH")) environment.variables["PATH"] = *path;
  SandboxedFiles files(world.files, {plan.out_root});
  if (files.kind(lock_file(plan.out_root)) == PathKind::kNone) {
    KILN_TRY(files.write(lock_file(plan.out_root), ""));  // marks the folder as kiln's
  }
  FileDigests digests(files);
  const Toolchain no_tools;
  const BuildContext context{plan, no_tools, environment, digests};
  KILN_TRY_ASSIGN(const StepOutput output, run_step(step, context, files, world.processes));
  // Outputs of earlier steps may have been put in place a moment ago.
  if (!output.changed_meanwhile.empty() && !output.changed_meanwhile.starts_with("{out}/")) {
    return Error{ErrorCode::kBuildFailed, display_path(output.changed_meanwhile) +
                                              " changed while " + quote(step.id) + " read it"}
        .hint("run the build again");
  }
  if (!step.depfile.empty()) {
    KILN_TRY(place_depfile(step, output, plan, world.environment.current_directory, files));
  }
  KILN_TRY(place_output(step, output, context, files));
  if (const std::string text = tool_message(step, context, files, output.log); !text.empty()) {
    world.err << "kiln: warning: " << message_of(step, text) << "\n";
  }
  return 0;
}

}  // namespace kiln::tools
