#include "tools/commands/plan.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/prepare.hpp"
#include "tools/engine/assess.hpp"
#include "tools/engine/ingredients.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/engine/publish.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/write_ninja.hpp"
#include "tools/system/folder_lock.hpp"
#include "tools/system/own_folder.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

Json::Array texts(const std::vector<std::string>& values) {
  return Json::Array(values.begin(), values.end());
}

Json as_json(const Step& step, const Plan& plan) {
  Json::Object environment;
  for (const auto& [name, value] : step.environment) environment.push_back({name, value});
  Json::Array after;
  for (const std::uint32_t before : step.after) after.push_back(plan.steps[before].id);
  return Json::Object{{"id", step.id},
                      {"kind", to_string(step.kind)},
                      {"module", step.module},
                      {"unit", step.unit},
                      {"target", step.target},
                      {"tool", to_string(step.tool)},
                      {"tool_roles", texts(step.tool_roles)},
                      {"argv", texts(step.argv)},
                      {"environment", std::move(environment)},
                      {"inputs", texts(step.inputs)},
                      {"output", step.output},
                      {"depfile", step.depfile},
                      {"after", std::move(after)}};
}

// Quotes a word for a shell. Braces of placeholders stay unquoted for readability.
std::string shell_word(const std::string& word) {
  std::string bare;
  for (const char c : word) {
    if (c != '{' && c != '}') bare += c;
  }
  return shell_quote(bare) == bare ? word : shell_quote(word);
}

// Returns the words of the command line that select what is planned.
std::vector<std::string> words_of(const Selection& selection) {
  std::vector<std::string> words = {selection.manifest.string(),
                                    "--out=" + selection.out.string()};
  for (const std::string& target : selection.targets) words.push_back("--target=" + target);
  for (const std::string& module : selection.modules) words.push_back("--module=" + module);
  if (selection.missing_targets == MissingTargets::kLeaveOut) words.push_back("--allow-missing");
  return words;
}

Result<void> check_ninja_file(const Files& files, const std::filesystem::path& path,
                              const std::filesystem::path& as_given) {
  const PathKind kind = files.kind(path);
  if (kind == PathKind::kNone) return {};
  if (kind == PathKind::kFile) {
    KILN_TRY_ASSIGN(const std::string text, files.read(path));
    if (text.empty() || text.starts_with(kNinjaFileStart)) return {};
  }
  return Error{ErrorCode::kInvalidInput,
               quote(as_given.string()) + " cannot be the Ninja file: it holds something else, "
                                          "which would be lost"}
      .hint("name a file that is not there, or that an earlier 'kiln plan --ninja' wrote");
}

Result<void> write_ninja_file(const PlanOptions& options, const Prepared& prepared, World& world) {
  const Plan& plan = prepared.plan;
  const std::filesystem::path file =
      (world.environment.current_directory / options.ninja).lexically_normal();
  KILN_TRY(check_ninja_file(world.files, file, options.ninja));
  KILN_TRY(check_out_folder(world.files, plan.out_root, options.selection.out));
  NinjaRequest request{.plan = plan,
                       .toolchain = prepared.toolchain,
                       .folder = world.environment.current_directory,
                       .file = file,
                       .program = own_program(),
                       .asked = words_of(options.selection),
                       .read = {},
                       .written = published_files(prepared.manifest.embed),
                       .steps = {}};
  for (const auto& [path, digest] : prepared.manifest.read) {
    request.read.push_back((plan.source_root / path).lexically_normal());
  }
  FileDigests digests(world.files);
  for (const Step& step : plan.steps) {
    NinjaStep more{.log = log_path(step),
                   .environment = passed_variables(step.tool, world.environment),
                   .named = {}};
    for (const std::string& path : files_named_by_options(step, plan, world.environment, digests)) {
      const std::filesystem::path named = expand(path, plan);
      if (world.files.kind(named) == PathKind::kFile) more.named.push_back(named.string());
    }
    request.steps.push_back(std::move(more));
  }
  KILN_TRY_ASSIGN(const std::string text, write_ninja(request));
  // The lock marks the folder as kiln's.
  KILN_TRY_ASSIGN(const FolderLock lock,
                  FolderLock::take(lock_file(plan.out_root), world.interrupt, [] {}));
  SandboxedFiles files(world.files, {plan.out_root});
  (void)remove_old_conversions(extent_of(options.selection, prepared), plan, files);
  return world.files.write_if_changed(file, text);
}

}  // namespace

std::string plan_as_json(const Plan& plan, const std::vector<std::string>& missing_targets) {
  Json::Object places{{"src", plan.source_root.string()}, {"out", plan.out_root.string()}};
  for (const auto& [name, path] : plan.placeholders) places.push_back({name, path});
  Json::Array steps;
  for (const Step& step : plan.steps) steps.push_back(as_json(step, plan));
  return write_json(Json::Object{{"format", 1},
                                 {"places", std::move(places)},
                                 {"missing_targets", texts(missing_targets)},
                                 {"steps", std::move(steps)}});
}

std::string plan_as_text(const Plan& plan, const std::vector<std::string>& missing_targets) {
  std::string text;
  for (const std::string& target : missing_targets) {
    text += "# left out: " + target + " (its tools are missing; see kiln doctor)\n";
  }
  for (const Step& step : plan.steps) {
    text += step.id + "\n ";
    for (const auto& [name, value] : step.environment) text += " " + name + "=" + shell_word(value);
    for (const std::string& word : step.argv) text += " " + shell_word(word);
    text += "\n";
  }
  return text;
}

Result<int> run_plan(const PlanOptions& options, World& world) {
  KILN_TRY_ASSIGN(const Prepared prepared, prepare(options.selection, world));
  if (!options.ninja.empty()) {
    KILN_TRY(write_ninja_file(options, prepared, world));
    return 0;
  }
  world.out << (options.json ? plan_as_json(prepared.plan, prepared.missing_targets)
                             : plan_as_text(prepared.plan, prepared.missing_targets));
  return 0;
}

}  // namespace kiln::tools
