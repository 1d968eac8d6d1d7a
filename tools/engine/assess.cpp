#include "tools/engine/assess.hpp"

#include <algorithm>

namespace kiln::tools {
namespace {

void check_output(const std::string& path, const Digest& expected, std::string_view what,
                  const BuildContext& context, std::vector<std::string>& reasons) {
  const std::optional<Digest> found = context.digests.digest_at(expand(path, context.plan));
  if (!found) {
    reasons.push_back(std::string(what) + " missing");
  } else if (*found != expected) {
    reasons.push_back(std::string(what) + " modified");
  }
}

}  // namespace

Assessment assess(const Step& step, const StepRecord* record, const BuildContext& context) {
  Assessment result;
  const std::string now =
      ingredient_lines(step, context.plan, context.toolchain.tool(step.tool), context.environment,
                       context.digests, *context.shared);
  if (record == nullptr) {
    result.ingredients = read_ingredients(now);
    result.reasons.push_back("no finished run on record");
    return result;
  }
  if (now != record->ingredients) {
    result.reasons =
        explain_difference(read_ingredients(record->ingredients), read_ingredients(now));
    // The lists differ only in their order, which may change what a tool makes.
    if (result.reasons.empty()) result.reasons.push_back("inputs in another order");
  }
  if (!context.shared->are_unchanged(record->dependencies, context.plan, context.digests)) {
    for (const auto& [path, digest] : record->dependencies) {
      const std::optional<Digest> found = context.digests.digest_at(expand(path, context.plan));
      if (found == digest) continue;
      result.reasons.push_back(display_path(path) + (found ? " changed" : " is gone"));
    }
  }
  check_output(step.output, record->output, "output", context, result.reasons);
  check_output(log_path(step), record->log, "log", context, result.reasons);
  result.freshness = result.reasons.empty() ? Freshness::kFresh : Freshness::kStale;
  if (result.freshness != Freshness::kFresh) result.ingredients = read_ingredients(now);
  return result;
}

std::vector<Assessment> assess_all(const BuildState& state, const BuildContext& context) {
  const std::vector<Step>& steps = context.plan.steps;
  std::vector<Assessment> results;
  results.reserve(steps.size());
  for (const Step& step : steps) {
    const auto found = state.steps.find(step.id);
    Assessment result =
        assess(step, found == state.steps.end() ? nullptr : &found->second, context);
    if (result.freshness == Freshness::kFresh) {
      for (const std::uint32_t before : step.after) {
        if (results[before].freshness == Freshness::kFresh) continue;
        result.freshness = Freshness::kFollows;
        result.reasons.push_back("after '" + steps[before].id + "'");
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::string log_path(const Step& step) {
  // Each step has a log of its own, named after its output, which no other step has.
  return "{out}/.kiln/logs/" + below_out(step.output) + ".log";
}

}  // namespace kiln::tools
