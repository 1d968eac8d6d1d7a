#include "tools/engine/run_step.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/engine/computed_include.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/engine/step_error.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/hipify/hipify_driver.hpp"
#include "tools/stages/depfile.hpp"
#include "tools/stages/include_hip.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/line_directive.hpp"
#include "tools/stages/plan_compile.hpp"
#include "tools/stages/plan_hipify.hpp"
#include "tools/stages/shorten_ptx.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// Replaces `path` by `to` wherever it ends a path inside `word`: at the end of the word or before a
// separator.
void redirect(std::string& word, std::string_view path, std::string_view to) {
  if (path.empty()) return;
  std::size_t at = 0;
  while ((at = word.find(path, at)) != std::string::npos) {
    const std::size_t end = at + path.size();
    if (end == word.size() || word[end] == ',' || word[end] == ';') {
      word.replace(at, path.size(), to);
      at += to.size();
    } else {
      at = end;
    }
  }
}

std::string exit_text(const Outcome& outcome) {
  return outcome.signal != 0 ? "ended by signal " + std::to_string(outcome.signal)
                             : "exit status " + std::to_string(outcome.exit_code);
}

std::string joined_output(const Outcome& outcome) {
  std::string text = outcome.output;
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + outcome.diagnostics;
}

// Removes the folder that the tool of one step writes into. `path` is a new, unique folder, so an
// orphaned compiler of a killed build cannot write into it.
class Scratch {
 public:
  Scratch(Files& files, fs::path path) : files_(files), path_(std::move(path)) {}
  ~Scratch() { (void)files_.remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  Files& files_;
  fs::path path_;
};

// kiln itself put outputs of earlier steps in place, perhaps a moment ago.
bool is_of_earlier_step(const std::string& neutral, const Step& step, const Plan& plan) {
  return std::any_of(step.after.begin(), step.after.end(), [&](const std::uint32_t before) {
    return plan.steps[before].output == neutral;
  });
}

// Returns the time when the tool starts, by the file system's clock, which ticks every few
// milliseconds. Waits until the clock is past the last change of each input. Otherwise a file saved
// just before the start would look changed after it.
std::int64_t start_time(const Step& step, const BuildContext& context, Files& files,
                        const Scratch& scratch) {
  constexpr std::int64_t kMaxTick = 50'000'000;
  std::int64_t last_change = 0;
  for (const std::string& input : step.inputs) {
    if (is_of_earlier_step(input, step, context.plan)) continue;
    const std::optional<FileStatus> status = files.status(expand(input, context.plan));
    if (status) last_change = std::max(last_change, status->changed_ns);
  }
  const auto now = [&] {
    const std::optional<FileStatus> status = files.status(scratch.path());
    return status ? status->modified_ns : 0;
  };
  const std::int64_t first = now();
  std::int64_t started = first;
  // If the clock is further behind, the change was stamped by another machine's clock.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kMaxTick);
  while (started <= last_change && last_change - first < kMaxTick &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!files.touch(scratch.path())) break;
    started = now();
  }
  return started;
}

// Notes `neutral` if the file changed after the tool started, because then it is unknown what the
// tool read.
void note_change(const std::string& neutral, const Step& step, const BuildContext& context,
                 const Files& files, std::int64_t started_ns, StepOutput& result) {
  const Plan& plan = context.plan;
  if (is_of_earlier_step(neutral, step, plan)) return;
  const fs::path path = expand(neutral, plan);
  // Uses the time of the status change: users can set the modification time, even to the future.
  const std::optional<FileStatus> now = files.status(path);
  if (now && now->changed_ns < started_ns && !files.path_redirected_since(path, started_ns)) return;
  context.digests.forget(path);
  result.changed_meanwhile = neutral;
}

// The plan gives a compiler each converted file that its source reaches by name. Any other may be of
// an earlier build, and nothing would notice its changes.
Error unplanned_conversion(const Step& step, std::string_view header) {
  Error error{ErrorCode::kBuildFailed, quote(step.id) + " read " + quote(header) +
                                           " by an include whose name kiln cannot tell"};
  explain_computed_include(error, header);
  return error;
}

// Collects the files that the tool read, except the step's known inputs and its scratch folder.
Result<void> collect_dependencies(const Step& step, const BuildContext& context, Files& files,
                                  const Scratch& scratch, std::int64_t started_ns,
                                  StepOutput& result) {
  const Result<std::string> text = files.read(scratch.path() / "depfile");
  if (!text) {
    return step_error(step, context, files,
                      "the tool reported success but did not say what it read", result.log)
        .note(text.error().message)
        .hint(
            "an option that changes what the compiler writes, such as -M, belongs into no "
            "manifest");
  }
  KILN_TRY_ASSIGN(const std::vector<std::string> paths, parse_depfile(*text));
  for (const std::string& path : paths) {
    const std::string neutral = neutral_path(path, context.plan);
    const bool is_known = std::binary_search(step.inputs.begin(), step.inputs.end(), neutral);
    if (is_known || neutral.starts_with("{out}/.kiln/")) continue;
    if (neutral.starts_with(kHipFolder)) {
      return unplanned_conversion(step, std::string_view(neutral).substr(kHipFolder.size()));
    }
    // Reads the file's digest now: it may have changed since earlier steps were checked.
    const std::optional<Digest> digest = context.digests.digest_now(expand(neutral, context.plan));
    if (!digest) {
      return Error{.code = ErrorCode::kEnvironment,
                   .message = "cannot read " + quote(display_path(neutral)) + ", which " +
                              quote(step.id) + " depends on"};
    }
    result.dependencies.emplace_back(neutral, *digest);
    note_change(neutral, step, context, files, started_ns, result);
  }
  std::sort(result.dependencies.begin(), result.dependencies.end());
  result.dependencies.erase(std::unique(result.dependencies.begin(), result.dependencies.end()),
                            result.dependencies.end());
  return {};
}

}  // namespace

Result<StepOutput> run_step(const Step& step, const BuildContext& context, Files& files,
                            Processes& processes) {
  const Plan& plan = context.plan;
  KILN_TRY_ASSIGN(fs::path folder, files.make_unique_folder(scratch_folders(plan.out_root)));
  const Scratch scratch(files, std::move(folder));
  if (is_driven(step)) {
    KILN_TRY(files.write_if_changed(expand(kHipifyDriverPath, plan), hipify_driver_text()));
  }
  const std::int64_t started_ns = start_time(step, context, files, scratch);
  // Keeps the file name, because some tools write it into their output.
  const fs::path output = scratch.path() / fs::path(step.output).filename();
  Command command;
  command.inherit = Inherit::kNothing;
  command.environment = tool_environment(step.tool, context.environment);
  for (std::string word : step.argv) {
    redirect(word, step.output, output.string());
    redirect(word, step.depfile, (scratch.path() / "depfile").string());
    command.argv.push_back(in_source_root(word, plan));
  }
  for (const auto& [name, value] : step.environment) {
    command.environment.emplace_back(name, in_source_root(value, plan));
  }
  command.environment.emplace_back("TMPDIR", scratch.path().string());
  command.working_directory = plan.source_root;

  KILN_TRY_ASSIGN(const Outcome outcome, processes.run(command));
  StepOutput result;
  result.log = joined_output(outcome);
  result.milliseconds = static_cast<std::uint64_t>(outcome.duration.count() / 1000);
  if (!outcome.ok()) return step_error(step, context, files, exit_text(outcome), result.log);
  Result<std::string> bytes = files.read(output);
  if (!bytes) {
    return step_error(step, context, files, "the tool reported success but wrote no output",
                      result.log)
        .note(bytes.error().message);
  }
  result.bytes = std::move(*bytes);
  if (step.kind == StepKind::kHipify) {
    const std::string& source = step.inputs.front();
    KILN_TRY_ASSIGN(const std::string original, files.read(expand(source, plan)));
    result.bytes =
        add_line_directive(include_hip(std::move(result.bytes)), original, display_path(source));
  }
  if (makes_ptx(step)) result.bytes = shorten_ptx(std::move(result.bytes));
  result.digest = sha256(result.bytes);
  result.log_digest = sha256(result.log);
  for (const std::string& input : step.inputs) {
    note_change(input, step, context, files, started_ns, result);
  }
  if (!step.depfile.empty()) {
    KILN_TRY(collect_dependencies(step, context, files, scratch, started_ns, result));
  }
  return result;
}

Result<void> place_output(const Step& step, const StepOutput& output, const BuildContext& context,
                          Files& files) {
  const auto place = [&](const std::string& neutral, const std::string& content,
                         const Digest& digest) -> Result<void> {
    const fs::path path = expand(neutral, context.plan);
    context.digests.forget(path);
    KILN_TRY(files.write_if_changed(path, content));
    context.digests.record(path, digest);
    return {};
  };
  KILN_TRY(place(log_path(step), output.log, output.log_digest));
  return place(step.output, output.bytes, output.digest);
}

}  // namespace kiln::tools
