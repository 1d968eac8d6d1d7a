#include "tools/commands/build.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/prepare.hpp"
#include "tools/commands/progress.hpp"
#include "tools/commands/timeline.hpp"
#include "tools/engine/build_memory.hpp"
#include "tools/engine/describe_build.hpp"
#include "tools/engine/execute.hpp"
#include "tools/engine/finish.hpp"
#include "tools/engine/old_images.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/depfile.hpp"
#include "tools/stages/lock_file.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/folder_lock.hpp"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

ProgressOptions progress_options(const BuildOptions& options, const World& world, unsigned jobs) {
  const ProgressStyle style = options.json                           ? ProgressStyle::kJson
                              : world.environment.stderr_is_terminal ? ProgressStyle::kTerminal
                                                                     : ProgressStyle::kLines;
  return {.style = style, .explain = options.explain, .jobs = jobs};
}

void apply(const BuildOptions& options, EmbedOptions& embed) {
  if (options.embed) embed.mode = *options.embed;
  if (!options.outputs.empty()) embed.outputs = options.outputs;
  if (options.name_space) embed.name_space = *options.name_space;
  if (options.compression) embed.compression = *options.compression;
  if (options.embed_source) embed.source = *options.embed_source;
}

// The modules none of whose steps failed, sorted.
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

// What to know of the tools that ran, a line each.
std::vector<std::string> shortcomings(const BuildContext& context, const Execution& execution) {
  std::set<std::string> found;
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    if (execution.steps[i].status != StepStatus::kRan) continue;
    const Tool& tool = context.toolchain.tool(context.plan.steps[i].tool);
    if (const std::string one = shortcoming(tool); !one.empty()) {
      found.insert(std::string(to_string(tool.kind)) + ": " + one);
    }
  }
  return {found.begin(), found.end()};
}

// What --dry-run prints: the steps that would run and why, and those that might.
int show_stale_steps(const std::vector<Assessment>& assessments, const Plan& plan,
                     const BuildOptions& options, std::ostream& out) {
  std::size_t stale = 0, following = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Assessment& one = assessments[i];
    if (one.freshness == Freshness::kFresh) continue;
    const bool is_stale = one.freshness == Freshness::kStale;
    ++(is_stale ? stale : following);
    if (options.json) {
      out << trim(write_json(
                 Json::Object{{"event", is_stale ? "stale" : "follows"},
                              {"step", plan.steps[i].id},
                              {"reasons", Json::Array(one.reasons.begin(), one.reasons.end())}},
                 JsonLayout::kCompact))
          << "\n";
    } else {
      out << (is_stale ? "would run: " : "may follow: ") << plan.steps[i].id << ": "
          << join(one.reasons, ", ") << "\n";
    }
  }
  if (!options.json) {
    out << plan.steps.size() << " steps: " << stale << " would run, " << following
        << " may follow, " << plan.steps.size() - stale - following << " up to date\n";
  }
  return 0;
}

Json error_json(const Error& error) {
  Json::Array notes, hints;
  for (const Note& note : error.notes) {
    (note.kind == Note::Kind::kHint ? hints : notes).push_back(note.text);
  }
  Json::Object object{{"message", error.message}};
  if (!error.where.file.empty()) {
    object.push_back({"file", error.where.file});
    if (error.where.line != 0) object.push_back({"line", error.where.line});
    if (error.where.column != 0) object.push_back({"column", error.where.column});
  }
  object.push_back({"notes", std::move(notes)});
  object.push_back({"hints", std::move(hints)});
  return object;
}

Json::Array errors_json(const Error& error) {
  Json::Array errors = {error_json(error)};
  for (const Error& other : error.others) errors.push_back(error_json(other));
  return errors;
}

// Of a build that did not come to its steps.
void print_json_refusal(const Error& error, std::ostream& out) {
  const Json event =
      Json::Object{{"event", "done"}, {"status", "failed"}, {"errors", errors_json(error)}};
  out << trim(write_json(event, JsonLayout::kCompact)) << "\n";
}

struct Summary {
  const Manifest& manifest;
  const Execution& execution;
  const std::vector<std::string>& missing_targets;
  std::uint64_t milliseconds;
};

void print_json_summary(const Summary& summary, const Error* error, std::ostream& out) {
  Json::Object counts;
  for (const StepStatus status : {StepStatus::kUpToDate, StepStatus::kCached, StepStatus::kRan,
                                  StepStatus::kFailed, StepStatus::kSkipped}) {
    counts.push_back({std::string(to_string(status)), summary.execution.count(status)});
  }
  Json::Array missing(summary.missing_targets.begin(), summary.missing_targets.end()), errors;
  if (error != nullptr) errors = errors_json(*error);
  const Json event = Json::Object{{"event", "done"},
                                  {"status", error == nullptr ? "ok" : "failed"},
                                  {"steps", std::move(counts)},
                                  {"missing_targets", std::move(missing)},
                                  {"header", header_path(summary.manifest)},
                                  {"milliseconds", summary.milliseconds},
                                  {"errors", std::move(errors)}};
  out << trim(write_json(event, JsonLayout::kCompact)) << "\n";
}

void print_summary(const Summary& summary, const Finished& finished,
                   const std::filesystem::path& out_folder, std::ostream& out) {
  const Execution& execution = summary.execution;
  const std::size_t ran = execution.count(StepStatus::kRan);
  const std::size_t cached = execution.count(StepStatus::kCached);
  if (ran + cached == 0 && finished.was_up_to_date) {
    out << "nothing to do: " << counted(execution.steps.size(), "step") << " up to date ("
        << summary.milliseconds << " ms)\n";
    return;
  }
  out << counted(execution.steps.size(), "step") << ": " << ran << " ran, " << cached << " from the cache, "
      << execution.count(StepStatus::kUpToDate) << " up to date ("
      << format_duration(summary.milliseconds) << ")\n";
  if (!finished.was_up_to_date) {
    out << counted(finished.kernels, "kernel") << " in " << counted(finished.images, "image") << ": "
        << (out_folder / header_path(summary.manifest)).string() << "\n";
  }
}

// What is found of the tools is kept in the cache first, and the out folder is then not empty.
Result<void> check_cache_is_apart(const BuildOptions& options, const World& world) {
  const std::filesystem::path& here = world.environment.current_directory;
  const std::filesystem::path cache = world.environment.cache_directory();
  const std::filesystem::path out = (here / options.selection.out / "").lexically_normal();
  const std::filesystem::path within =
      (here / cache / "").lexically_normal().lexically_relative(out);
  if (cache.empty() || within.empty() || *within.begin() == "..") return {};
  return Error{ErrorCode::kInvalidInput, "the cache " + quote(cache.string()) + " lies in the out folder " +
                                             quote(options.selection.out.string())}
      .hint("keep them apart: KILN_CACHE_DIR=DIR, or --out DIR");
}

// None where no server is named; a build goes on without one that cannot be asked.
std::unique_ptr<RemoteCache> open_remote_cache(const RemotePolicy& policy, World& world) {
  if (policy.url.empty()) return nullptr;
  Result<std::unique_ptr<HttpClient>> client = real_http_client(policy.times, world.interrupt);
  if (client) return std::make_unique<RemoteCache>(std::move(*client), policy);
  world.err << "kiln: warning: KILN_CACHE_URL is not used: " << client.error().message << "\n";
  return nullptr;
}

// As far as is known before a compiler ran.
Result<void> check_rule_paths(const std::string& target, const Plan& plan) {
  KILN_TRY(check_rule_path(target));
  for (const Step& step : plan.steps) {
    for (const std::string& input : step.inputs) {
      if (input.starts_with("{src}/")) KILN_TRY(check_rule_path(input.substr(6)));
    }
  }
  return {};
}

// Of --locked.
Result<Lock> read_lock_file(const std::filesystem::path& path, const World& world) {
  const Result<std::string> text = world.files.read(world.environment.current_directory / path);
  if (!text) {
    if (text.error().code != ErrorCode::kInvalidInput) return text.error();
    return Error{ErrorCode::kInvalidInput, "there is no lock file " + quote(path.string())}.hint(
        "write one of a finished build: kiln lock out --file " + shell_quote(path.string()));
  }
  return read_lock(*text, path.generic_string());
}

bool is_whole(const BuildOptions& options, const Prepared& prepared) {
  return options.selection.targets.empty() && options.selection.modules.empty() &&
         prepared.missing_targets.empty();
}

Result<void> check_against(const Lock& lock, const BuildOptions& options, const Prepared& prepared,
                           const BuildContext& context, const Files& files) {
  KILN_TRY_ASSIGN(const Catalog now, describe_build(prepared.manifest, prepared.units, context, files));
  return check_lock(lock, now, options.locked.generic_string(),
                    is_whole(options, prepared) ? LockExtent::kWhole : LockExtent::kSelected);
}

// The images that the steps left, by path below the out folder.
std::map<std::string, std::string> image_digests(const BuildContext& context) {
  std::map<std::string, std::string> images;
  for (const Step& step : context.plan.steps) {
    if (step.kind != StepKind::kCompile) continue;
    const auto digest = context.digests.digest(expand(step.output, context.plan));
    images[step.output.substr(std::string_view("{out}/").size())] = digest ? digest->hex() : "";
  }
  return images;
}

}  // namespace

Result<int> run_build(const BuildOptions& options, World& world) {
  const Clock::time_point start = Clock::now();
  Timeline timeline;
  timeline.phase("plan");
  const unsigned jobs = options.jobs != 0 ? options.jobs : world.environment.cores;
  KILN_TRY_ASSIGN(const CachePolicy cache_policy, tools::cache_policy(world.environment));
  KILN_TRY_ASSIGN(const RemotePolicy remote_policy, tools::remote_policy(world.environment));

  if (Result<void> apart = check_cache_is_apart(options, world); !apart) {
    if (options.json) print_json_refusal(apart.error(), world.out);
    return apart.error();
  }
  // What is asked for, what this machine can do, and every step from the one to the other.
  Result<Prepared> prepared_or_not = prepare(options.selection, world);
  if (!prepared_or_not) {
    if (options.json) print_json_refusal(prepared_or_not.error(), world.out);
    return std::move(prepared_or_not).error();
  }
  Prepared& prepared = *prepared_or_not;
  apply(options, prepared.manifest.embed);
  const Plan& plan = prepared.plan;

  KILN_TRY(check_out_folder(world.files, plan.out_root, options.selection.out));
  const std::filesystem::path depfile =
      options.depfile.empty()
          ? std::filesystem::path()
          : (world.environment.current_directory / options.depfile).lexically_normal();
  const std::string stamp_name = stamp_path(prepared.manifest);
  const std::string rule_target = (options.selection.out / stamp_name).lexically_normal().string();
  const auto may_write_depfile = [&] {
    return check_depfile(world.files, plan.out_root, depfile, options.depfile);
  };
  if (!depfile.empty()) {
    KILN_TRY(may_write_depfile());
    KILN_TRY(check_rule_paths(rule_target, plan));
    if (rule_target.find('=') != std::string::npos) {
      world.err
          << "kiln: warning: Make takes " << quote(rule_target)
          << " in a depfile for an assignment and will see no edit, Ninja and CMake will: for "
             "Make, choose an out folder without '='\n";
    }
  }
  const std::filesystem::path trace =
      options.trace.empty()
          ? std::filesystem::path()
          : (world.environment.current_directory / options.trace).lexically_normal();
  if (!trace.empty()) KILN_TRY(check_trace_file(world.files, trace, options.trace));
  const auto waiting = [&] { world.err << "kiln: waiting for another build in this folder\n"; };
  KILN_TRY_ASSIGN(const FolderLock lock,
                  FolderLock::take(lock_file(plan.out_root), world.interrupt, waiting));
  // From here on, nothing is changed but the out folder, the cache, and the files of --depfile
  // and --trace.
  const CacheFolder cache = cache_folder(world.files, world.environment);
  HeldFiles files(world.files, {plan.out_root, cache.path}, {depfile, trace});
  KILN_TRY_ASSIGN(const Staging staging, Staging::make(files, plan.out_root));
  // Its time is that of the build's start: what is edited from now on is newer.
  const std::filesystem::path stamp = staging.folder() / "stamp";
  if (!depfile.empty()) KILN_TRY(files.write(stamp, ""));
  BuildMemory memory(files, plan, world.environment);
  const BuildContext context{plan, prepared.toolchain, world.environment, memory.digests};
  std::optional<Lock> lock_of_release;
  if (!options.locked.empty()) {
    KILN_TRY_ASSIGN(lock_of_release, read_lock_file(options.locked, world));
    const Result<void> checked =
        check_against(*lock_of_release, options, prepared, context, world.files);
    if (!checked) {
      if (options.json) print_json_refusal(checked.error(), world.out);
      return checked.error();
    }
  }
  // What the lock names is what is here.
  if (options.dry_run) {
    return show_stale_steps(assess_all(memory.state, context), plan, options, world.out);
  }

  // Images and bundles: afterwards, those of intact modules are in place and up to date.
  HeldFiles cache_files(world.files, {cache.path});
  CacheStore store(cache_files, cache.path);
  const bool wants_cache = cache_policy.is_on && !options.no_cache;
  const bool uses_cache = wants_cache && cache.is_usable();
  if (wants_cache && !uses_cache) {
    world.err << "kiln: warning: no cache is used: " << cache.refused << "\n";
  }
  const std::unique_ptr<RemoteCache> remote =
      uses_cache ? open_remote_cache(remote_policy, world) : nullptr;
  store.set_remote(remote.get());
  std::optional<RangeLock> use_of_store;
  if (uses_cache) use_of_store = store.use();
  const FailurePolicy policy =
      options.keep_going ? FailurePolicy::kKeepGoing : FailurePolicy::kStopBeforeBundles;
  Result<Execution> executed = [&] {
    const auto progress = make_progress(progress_options(options, world, jobs), world);
    timeline.phase("check what is up to date");
    timeline.next = progress.get();
    return execute(context, memory.state, files, world.processes,
                   {.jobs = jobs,
                    .failure_policy = policy,
                    .cache = uses_cache ? &store : nullptr,
                    .observer = &timeline,
                    .interrupt = world.interrupt});
  }();
  if (executed && world.interrupt != nullptr && *world.interrupt) {
    executed = Error{.code = ErrorCode::kInterrupted, .message = "interrupted"};
  }
  if (!executed) {
    (void)memory.save();  // what is done stays done
    return std::move(executed).error();
  }
  const Execution& execution = *executed;
  for (const std::string& warning : execution.warnings) {
    world.err << "kiln: warning: " << warning << "\n";
  }
  for (const std::string& warning : shortcomings(context, execution)) {
    world.err << "kiln: warning: " << warning << "\n";
  }
  if (uses_cache && execution.count(StepStatus::kRan) != 0) (void)store.trim(cache_policy.limit);

  if (executed->errors.empty()) {
    const BuildExtent extent =
        is_whole(options, prepared) ? BuildExtent::kWhole : BuildExtent::kSelected;
    for (const std::string& path : remove_old_images(extent, context, memory.state, files)) {
      world.err << "kiln: removed " << (options.selection.out / path).string()
                << (extent == BuildExtent::kWhole ? ": the manifest does not make it any more\n"
                                                  : ": it was built from other sources\n");
    }
  }

  if (lock_of_release && executed->errors.empty()) {
    const Result<void> checked = check_locked_images(*lock_of_release, image_digests(context),
                                                     options.locked.generic_string());
    if (!checked) executed->errors.push_back(checked.error());
  }
  timeline.phase("catalog and header");
  // Catalog and header: of all modules, or with --keep-going of those that are intact.
  Result<Finished> finished = Finished{};
  const std::vector<std::string> intact = intact_modules(prepared.manifest, plan, execution);
  const bool may_finish =
      execution.errors.empty() || (options.keep_going && !lock_of_release && !intact.empty());
  if (may_finish) {
    finished = finish({prepared.manifest, prepared.units, prepared.missing_targets, intact,
                       uses_cache ? &store : nullptr, policy},
                      context, memory.state, files);
  }
  KILN_TRY(memory.save());
  if (finished) {
    for (const RemovedFile& file : finished->removed) {
      world.err << "kiln: removed " << (options.selection.out / file.path).string() << ": "
                << file.why << "\n";
    }
    for (const std::string& source : finished->without_kernels) {
      world.err << "kiln: warning: " << quote(source)
                << " has no kernels: a template is one where it is instantiated\n";
    }
  }
  if (store.damaged() != 0) {
    world.err << "kiln: warning: " << counted(store.damaged(), "file")
              << " of the cache did not check out, and will be made again: " << store.root().string()
              << "\n";
  }
  if (remote && !remote->trouble().empty()) {
    world.err << "kiln: warning: the cache " << remote->shown_url()
              << " is not used any more: " << remote->trouble() << "\n";
  }
  if (uses_cache) store.save_counts();
  if (use_of_store) store.sweep(*use_of_store);

  const std::string events = timeline.write();
  // Kept of the last build that did something. Its loss is none.
  if (timeline.has_steps()) (void)files.write(timeline_file(plan.out_root), events);
  if (!trace.empty()) KILN_TRY(files.write(trace, events));

  std::vector<Error> errors = execution.errors;
  if (!finished) {
    errors.push_back(std::move(finished).error());
  } else {
    errors.insert(errors.end(), finished->errors.begin(), finished->errors.end());
  }
  if (errors.empty() && !depfile.empty()) {
    // What this build made may have come to lie there.
    KILN_TRY(may_write_depfile());
    KILN_TRY_ASSIGN(
        const std::string rule,
        write_depfile(rule_target, header_dependencies(prepared.manifest, context, memory.state)));
    KILN_TRY(files.write_if_changed(depfile, rule));
    KILN_TRY(files.rename(stamp, plan.out_root / stamp_name));
  }
  const auto milliseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
  const Summary summary{prepared.manifest, execution, prepared.missing_targets, milliseconds};
  if (!errors.empty()) {
    Error error = merge_errors(std::move(errors));
    if (options.json) print_json_summary(summary, &error, world.out);
    return error;
  }
  if (options.json) {
    print_json_summary(summary, nullptr, world.out);
  } else {
    print_summary(summary, *finished, options.selection.out, world.out);
  }
  return 0;
}

}  // namespace kiln::tools
