#include "tools/commands/build_output.hpp"

#include <utility>

#include "base/text.hpp"
#include "tools/commands/error_json.hpp"
#include "tools/commands/progress.hpp"
#include "tools/engine/publish.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {
namespace {

void print_event(const Json& event, std::ostream& out) {
  out << trim(write_json(event, JsonLayout::kCompact)) << "\n";
}

// True if the header in place is this build's.
bool has_header(const BuildOutcome& outcome) {
  return outcome.finished.was_up_to_date || outcome.finished.images != 0;
}

Json outcome_json(const BuildOutcome& outcome, const Error* error, std::uint64_t milliseconds) {
  Json::Object counts;
  for (const StepStatus status : {StepStatus::kUpToDate, StepStatus::kCached, StepStatus::kRan,
                                  StepStatus::kFailed, StepStatus::kSkipped}) {
    counts.push_back({std::string(to_string(status)), outcome.execution.count(status)});
  }
  return Json::Object{
      {"event", "done"},
      {"status", error == nullptr ? "ok" : "failed"},
      {"steps", std::move(counts)},
      {"missing_targets", Json::Array(outcome.missing_targets.begin(), outcome.missing_targets.end())},
      {"header", has_header(outcome) ? Json(outcome.header_below_out) : Json()},
      {"milliseconds", milliseconds},
      {"errors", error == nullptr ? Json::Array() : errors_json(*error)}};
}

}  // namespace

std::string spell_emitted(const std::filesystem::path& out, const EmbedOptions& embed) {
  std::vector<std::string> names;
  for (const std::filesystem::path path : emitted_files(embed)) {
    names.push_back(names.empty() ? (out / path).string() : path.filename().string());
  }
  return join(names, ", ");
}

void print_stale_steps(const std::vector<Assessment>& assessments, const Plan& plan,
                       const std::filesystem::path& out_folder, OutputFormat format, std::ostream& out) {
  std::size_t stale = 0, following = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Assessment& assessment = assessments[i];
    if (assessment.freshness == Freshness::kFresh) continue;
    const bool is_stale = assessment.freshness == Freshness::kStale;
    ++(is_stale ? stale : following);
    if (format == OutputFormat::kJson) {
      print_event(Json::Object{{"event", is_stale ? "stale" : "follows"},
                               {"step", plan.steps[i].id},
                               {"reasons",
                                Json::Array(assessment.reasons.begin(), assessment.reasons.end())}},
                  out);
    } else {
      out << (is_stale ? "would run: " : "may follow: ") << plan.steps[i].id << ": "
          << with_out_folder(join(assessment.reasons, ", "), out_folder) << "\n";
    }
  }
  const std::size_t fresh = plan.steps.size() - stale - following;
  if (format == OutputFormat::kJson) {
    const Json::Object counts{{"stale", stale}, {"follows", following}, {"up-to-date", fresh}};
    return print_event(Json::Object{{"event", "done"}, {"status", "ok"}, {"steps", counts}}, out);
  }
  out << counted(plan.steps.size(), "step") << ": " << stale << " would run, " << following << " may follow, "
      << fresh << " up to date\n";
}

void print_outcome(const BuildOutcome& outcome, const Error* error, std::uint64_t milliseconds,
                   OutputFormat format, std::ostream& out) {
  if (format == OutputFormat::kJson) return print_event(outcome_json(outcome, error, milliseconds), out);
  if (error != nullptr) return;
  const Execution& execution = outcome.execution;
  const Finished& finished = outcome.finished;
  const std::size_t ran = execution.count(StepStatus::kRan);
  const std::size_t cached = execution.count(StepStatus::kCached);
  if (ran + cached == 0 && finished.was_up_to_date) {
    out << "nothing to do: " << counted(execution.steps.size(), "step") << " up to date (" << milliseconds
        << " ms)\n";
    return;
  }
  out << counted(execution.steps.size(), "step") << ": " << ran << " ran, " << cached
      << " from the cache, " << execution.count(StepStatus::kUpToDate) << " up to date ("
      << format_duration(milliseconds) << ")\n";
  if (finished.was_up_to_date) return;
  out << counted(finished.kernels, "kernel") << " in " << counted(finished.images, "image") << ": "
      << outcome.emitted << "\n";
}

void print_refusal(const Error& error, OutputFormat format, std::ostream& out) {
  if (format == OutputFormat::kText) return;
  print_event(Json::Object{{"event", "done"}, {"status", "failed"}, {"errors", errors_json(error)}}, out);
}

void print_remarks(const Finished& finished, const std::filesystem::path& out_folder, std::ostream& err) {
  for (const RemovedFile& file : finished.removed) {
    err << "kiln: removed " << (out_folder / file.path).string() << ": " << file.why << "\n";
  }
  for (const std::string& source : finished.without_kernels) {
    err << "kiln: warning: " << quote(source)
        << " has no kernels: a template is one where it is instantiated\n";
  }
  for (const std::string& folder : finished.headers_left_out) {
    err << "kiln: warning: the headers of " << quote(folder)
        << " are not embedded with the sources, which do not compile at run time where they include them\n";
  }
  for (const std::string& file : finished.files_left_out) {
    err << "kiln: warning: " << quote(file)
        << " is not embedded with the sources, which do not compile at run time without it: name a "
           "header in the source too, such as in '#if 0'\n";
  }
  const std::vector<std::string>& untyped = finished.untyped_kernels;
  if (untyped.empty()) return;
  err << "kiln: note: " << quote(untyped.front());
  if (untyped.size() > 1) err << " and " << counted(untyped.size() - 1, "other kernel");
  err << (untyped.size() > 1 ? " have" : " has")
      << " arguments of unknown type, so only their sizes are checked: name an abi file, or leave extern "
         "\"C\" out\n";
}

}  // namespace kiln::tools
