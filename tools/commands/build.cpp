#include "tools/commands/build.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/build_output.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/commands/prepare.hpp"
#include "tools/commands/progress.hpp"
#include "tools/commands/shared_store.hpp"
#include "tools/commands/timeline.hpp"
#include "tools/engine/build_memory.hpp"
#include "tools/engine/describe_build.hpp"
#include "tools/engine/execute.hpp"
#include "tools/engine/finish.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/engine/publish.hpp"
#include "tools/engine/tool_messages.hpp"
#include "tools/stages/depfile.hpp"
#include "tools/stages/lock_file.hpp"
#include "tools/stages/parse_embed.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

ProgressOptions progress_options(const BuildOptions& options, const World& world, unsigned jobs) {
  const ProgressStyle style = options.json ? ProgressStyle::kJson : style_for(world.environment);
  return {.style = style, .explain = options.explain, .jobs = jobs, .out = options.selection.out};
}

Result<void> apply(const BuildOptions& options, EmbedOptions& embed) {
  if (options.embed) embed.mode = *options.embed;
  if (!options.outputs.empty()) embed.outputs = options.outputs;
  if (options.name_space) {
    KILN_TRY_ASSIGN(embed.name_space, parse_namespace(*options.name_space));
  }
  if (options.compression) embed.compression = *options.compression;
  if (options.embed_source) embed.source = *options.embed_source;
  return {};
}

OutputFormat output_format(const BuildOptions& options) {
  return options.json ? OutputFormat::kJson : OutputFormat::kText;
}

FailurePolicy failure_policy(const BuildOptions& options) {
  return options.keep_going ? FailurePolicy::kKeepGoing : FailurePolicy::kStopBeforeBundles;
}

// Returns the modules without failed steps, sorted.
std::vector<std::string> intact_modules(const Manifest& manifest, const Plan& plan,
                                        const Execution& execution) {
  std::set<std::string> broken;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepStatus status = execution.steps[i].status;
    if (status == StepStatus::kFailed || status == StepStatus::kSkipped) {
      broken.insert(plan.steps[i].module);
    }
  }
  std::vector<std::string> intact;
  for (const ModuleSpec& module : manifest.modules) {
    if (!broken.contains(module.name.value)) intact.push_back(module.name.value);
  }
  return intact;
}

// Remarks on the tools that ran, one per line.
std::vector<std::string> shortcomings(const BuildContext& context, const Execution& execution) {
  std::set<std::string> remarks;
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    if (execution.steps[i].status != StepStatus::kRan) continue;
    const Tool& tool = context.toolchain.tool(context.plan.steps[i].tool);
    if (const std::string remark = shortcoming(tool); !remark.empty()) {
      remarks.insert(std::string(to_string(tool.kind)) + ": " + remark);
    }
  }
  return {remarks.begin(), remarks.end()};
}

// Information about tools is written to the cache first, so the out folder would not be empty.
Result<void> check_cache_outside_out(const BuildOptions& options, const World& world) {
  const std::filesystem::path& current_folder = world.environment.current_directory;
  const std::filesystem::path cache = world.environment.cache_directory();
  const std::filesystem::path out =
      (current_folder / options.selection.out / "").lexically_normal();
  const std::filesystem::path within =
      (current_folder / cache / "").lexically_normal().lexically_relative(out);
  if (cache.empty() || within.empty() || *within.begin() == "..") return {};
  return Error{ErrorCode::kInvalidInput, "the cache " + quote(cache.string()) + " lies in the out folder " +
                                             quote(options.selection.out.string())}
      .hint("keep them apart: KILN_CACHE_DIR=DIR, or --out DIR");
}

// Checks the paths that are known before a compiler runs.
Result<void> check_rule_paths(const std::string& target, const Plan& plan) {
  KILN_TRY(check_rule_path(target));
  for (const Step& step : plan.steps) {
    for (const std::string& input : step.inputs) {
      if (input.starts_with("{src}/")) KILN_TRY(check_rule_path(input.substr(6)));
    }
  }
  return {};
}

// Files outside the out folder that a build writes on request. An empty path: not requested.
struct SideFiles {
  fs::path depfile, trace;
  std::string stamp;             // relative to the out folder
  std::string rule_target = {};  // the stamp's path in the depfile, spelt like --out
};

fs::path absolute_or_none(const fs::path& path, const World& world) {
  return path.empty() ? path : (world.environment.current_directory / path).lexically_normal();
}

// Runs before anything is written. The depfile is checked again before it is written, because the
// build may have made a file there.
Result<SideFiles> check_side_files(const BuildOptions& options, const Prepared& prepared, World& world) {
  SideFiles side{.depfile = absolute_or_none(options.depfile, world),
                 .trace = absolute_or_none(options.trace, world),
                 .stamp = stamp_path(prepared.manifest.embed)};
  side.rule_target = (options.selection.out / side.stamp).lexically_normal().string();
  if (!side.depfile.empty()) {
    KILN_TRY(check_depfile(world.files, prepared.plan.out_root, side.depfile, options.depfile));
    KILN_TRY(check_rule_paths(side.rule_target, prepared.plan));
    if (side.rule_target.find('=') != std::string::npos) {
      world.err << "kiln: warning: Make takes " << quote(side.rule_target)
                << " in a depfile for an assignment and will see no edit, Ninja and CMake will: for "
                   "Make, choose an out folder without '='\n";
    }
  }
  if (!side.trace.empty()) KILN_TRY(check_trace_file(world.files, side.trace, options.trace));
  return side;
}

// Reads the lock file of --locked.
Result<Lock> read_lock_file(const std::filesystem::path& path, const World& world) {
  const Result<std::string> text = world.files.read(world.environment.current_directory / path);
  if (!text) {
    if (text.error().code != ErrorCode::kInvalidInput) return text.error();
    return Error{ErrorCode::kInvalidInput, "there is no lock file " + quote(path.string())}.hint(
        "write one of a finished build: kiln lock out --out " + shell_quote(path.string()));
  }
  return read_lock(*text, path.generic_string());
}

// Returns the lock file of --locked after checking the build against it, or nothing without
// --locked.
Result<std::optional<Lock>> check_lock_file(const BuildOptions& options, const Prepared& prepared,
                                            const BuildContext& context, const Files& files,
                                            const World& world) {
  if (options.locked.empty()) return std::optional<Lock>();
  KILN_TRY_ASSIGN(Lock lock, read_lock_file(options.locked, world));
  KILN_TRY_ASSIGN(const Catalog current,
                  describe_build(prepared.manifest, prepared.units, context, files));
  KILN_TRY(check_lock(lock, current, options.locked.generic_string(),
                      extent_of(options.selection, prepared)));
  return std::optional<Lock>(std::move(lock));
}

// Returns the digests of the images that the steps made, by path below the out folder.
std::map<std::string, std::string> image_digests(const BuildContext& context) {
  std::map<std::string, std::string> images;
  for (const Step& step : context.plan.steps) {
    if (step.kind != StepKind::kCompile) continue;
    const auto digest = context.digests.digest(expand(step.output, context.plan));
    images[below_out(step.output)] = digest ? digest->hex() : "";
  }
  return images;
}

// Makes the images and bundles. Afterwards, those of intact modules are in place and up to date.
Result<Execution> run_steps(const BuildOptions& options, const BuildContext& context, BuildMemory& memory,
                            Files& files, CacheStore* cache, Timeline& timeline, World& world) {
  const unsigned jobs = options.jobs != 0 ? options.jobs : world.environment.cores;
  Result<Execution> executed = [&] {
    const auto progress = make_progress(progress_options(options, world, jobs), world);
    timeline.phase("check what is up to date");
    timeline.next = progress.get();
    return execute(context, memory.state, files, world.processes,
                   {.jobs = jobs,
                    .failure_policy = failure_policy(options),
                    .cache = cache,
                    .observer = &timeline,
                    .interrupt = world.interrupt});
  }();
  timeline.next = nullptr;
  if (executed && world.interrupt != nullptr && *world.interrupt) {
    executed = Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
  }
  if (!executed) (void)memory.save();  // finished steps stay finished
  return executed;
}

void print_warnings(const Execution& execution, const BuildContext& context, const Files& files,
                    const fs::path& out, std::ostream& err) {
  for (const std::string& warning : execution.warnings) {
    err << "kiln: warning: " << with_out_folder(warning, out) << "\n";
  }
  for (const std::string& warning : shortcomings(context, execution)) {
    err << "kiln: warning: " << warning << "\n";
  }
  for (const std::string& message : tool_messages(context, execution, files)) {
    err << "kiln: warning: " << message << "\n";
  }
}

// Removes the images that the build does not make any more, and reports them.
void clean_old_images(const BuildOptions& options, const Prepared& prepared,
                      const BuildContext& context, BuildMemory& memory, Files& files,
                      std::ostream& err) {
  const BuildExtent extent = extent_of(options.selection, prepared);
  for (const std::string& path : remove_old_images(extent, context, memory.state, files)) {
    err << "kiln: removed " << (options.selection.out / path).string()
        << (extent == BuildExtent::kWhole ? ": the manifest does not make it any more\n"
                                          : ": it was built from other sources\n");
  }
}

// Makes the catalog and the header for all modules, or with --keep-going for the intact ones.
Result<Finished> finish_modules(const BuildOptions& options, const Prepared& prepared,
                                const BuildOutcome& outcome, const BuildContext& context,
                                BuildMemory& memory, Files& files, CacheStore* cache) {
  const std::vector<std::string> intact =
      intact_modules(prepared.manifest, prepared.plan, outcome.execution);
  const bool may_omit_modules = options.keep_going && options.locked.empty() && !intact.empty();
  if (!outcome.errors.empty() && !may_omit_modules) return Finished{};
  return finish({prepared.manifest, prepared.units, prepared.missing_targets, intact, cache,
                 failure_policy(options)},
                context, memory.state, files);
}

// Adds the catalog and the header, or the error, to the outcome.
void add_finished(Result<Finished> finished, const BuildOptions& options, BuildOutcome& outcome,
                  std::ostream& err) {
  if (!finished) {
    outcome.errors.push_back(std::move(finished).error());
    return;
  }
  print_remarks(*finished, options.selection.out, err);
  outcome.errors.insert(outcome.errors.end(), finished->errors.begin(), finished->errors.end());
  if (!outcome.errors.empty() && finished->images != 0) {
    err << "kiln: warning: written without the modules that failed: " << outcome.emitted << "\n";
  }
  outcome.finished = std::move(*finished);
}

// Writes the timeline for `kiln report` and --trace.
Result<void> write_timeline(Timeline& timeline, const Plan& plan, const SideFiles& side,
                            Files& files) {
  const std::string events = timeline.write();
  // Kept for the last build that did something. Losing it does no harm.
  if (timeline.has_steps()) (void)files.write(timeline_file(plan.out_root), events);
  if (!side.trace.empty()) KILN_TRY(files.write(side.trace, events));
  return {};
}

// Writes the depfile, and puts the stamp in place.
Result<void> write_rule(const BuildOptions& options, const Prepared& prepared,
                        const BuildContext& context, const BuildState& state, const SideFiles& side,
                        const fs::path& stamp, Files& files, const World& world) {
  const fs::path& out_root = prepared.plan.out_root;
  KILN_TRY(check_depfile(world.files, out_root, side.depfile, options.depfile));
  KILN_TRY_ASSIGN(
      const std::string rule,
      write_depfile(side.rule_target, header_dependencies(prepared.manifest, context, state)));
  KILN_TRY(files.write_if_changed(side.depfile, rule));
  return files.rename(stamp, out_root / side.stamp);
}

// Prints the output of --dry-run. Changes nothing, so it does not wait for other builds.
Result<void> print_dry_run(const BuildOptions& options, const Prepared& prepared, World& world) {
  BuildMemory memory(world.files, prepared.plan, world.environment);
  const BuildContext context{prepared.plan, prepared.toolchain, world.environment, memory.digests};
  KILN_TRY_ASSIGN(const std::optional<Lock> lock,
                  check_lock_file(options, prepared, context, world.files, world));
  print_stale_steps(assess_all(memory.state, context), prepared.plan, options.selection.out,
                    output_format(options), world.out);
  return {};
}

// Runs the build, except for the final output. With --dry-run, returns an outcome without steps.
Result<BuildOutcome> build(const BuildOptions& options, World& world) {
  Timeline timeline;
  timeline.phase("plan");
  KILN_TRY_ASSIGN(const StorePolicies policies, store_policies(world.environment));
  KILN_TRY(check_cache_outside_out(options, world));

  // Combines the request with what this machine can build, and plans the steps.
  KILN_TRY_ASSIGN(Prepared prepared, prepare(options.selection, world));
  KILN_TRY(apply(options, prepared.manifest.embed));
  const Plan& plan = prepared.plan;
  KILN_TRY(check_out_folder(world.files, plan.out_root, options.selection.out));
  KILN_TRY_ASSIGN(const SideFiles side, check_side_files(options, prepared, world));

  if (options.dry_run) {
    KILN_TRY(print_dry_run(options, prepared, world));
    return BuildOutcome{};
  }

  // From here on, only the out folder, the cache, and the files of --depfile and --trace are
  // changed.
  KILN_TRY_ASSIGN(const OpenedFolder opened, open_out_folder(plan.out_root, world, {side.depfile, side.trace}));
  SandboxedFiles& files = *opened.files;
  // The stamp has the time of the build's start, so that later edits are newer.
  const fs::path stamp = opened.staging.folder() / "stamp";
  if (!side.depfile.empty()) KILN_TRY(files.write(stamp, ""));
  BuildMemory memory(files, plan, world.environment);
  const BuildContext context{plan, prepared.toolchain, world.environment, memory.digests};

  // Compares the lock with the present tools and sources.
  KILN_TRY_ASSIGN(const std::optional<Lock> lock,
                  check_lock_file(options, prepared, context, world.files, world));
  SharedStore store(options.no_cache ? StoreUse::kNone : StoreUse::kFolderAndServer, policies, opened.cache, world);
  BuildOutcome outcome{.emitted = spell_emitted(options.selection.out, prepared.manifest.embed),
                       .header_below_out = header_path(prepared.manifest),
                       .missing_targets = prepared.missing_targets};
  for (const std::string& path :
       remove_old_conversions(extent_of(options.selection, prepared), plan, files)) {
    world.err << "kiln: removed " << (options.selection.out / path).string()
              << ": no source of this build is converted to it\n";
  }
  KILN_TRY_ASSIGN(outcome.execution,
                  run_steps(options, context, memory, files, store.get(), timeline, world));
  outcome.errors = outcome.execution.errors;
  print_warnings(outcome.execution, context, files, options.selection.out, world.err);
  if (outcome.execution.count(StepStatus::kRan) != 0) store.trim();
  if (outcome.errors.empty()) {
    clean_old_images(options, prepared, context, memory, files, world.err);
  }
  if (lock && outcome.errors.empty()) {
    const Result<void> checked =
        check_locked_images(*lock, image_digests(context), options.locked.generic_string());
    if (!checked) outcome.errors.push_back(checked.error());
  }

  timeline.phase("catalog and header");
  Result<Finished> finished =
      finish_modules(options, prepared, outcome, context, memory, files, store.get());
  const Result<void> saved = memory.save();
  add_finished(std::move(finished), options, outcome, world.err);
  if (!saved) outcome.errors.push_back(saved.error());

  KILN_TRY(write_timeline(timeline, plan, side, files));
  if (outcome.errors.empty() && !side.depfile.empty()) {
    KILN_TRY(write_rule(options, prepared, context, memory.state, side, stamp, files, world));
  }
  return outcome;
}

}  // namespace

Result<int> run_build(const BuildOptions& options, World& world) {
  const Clock::time_point start = Clock::now();
  Result<BuildOutcome> outcome = build(options, world);
  if (!outcome) {
    print_refusal(outcome.error(), output_format(options), world.out);
    return std::move(outcome).error();
  }
  if (options.dry_run) return 0;
  const auto milliseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
  std::optional<Error> error;
  if (!outcome->errors.empty()) error = merge_errors(std::move(outcome->errors));
  print_outcome(*outcome, error ? &*error : nullptr, milliseconds, output_format(options), world.out);
  if (error) return std::move(*error);
  return 0;
}

}  // namespace kiln::tools
