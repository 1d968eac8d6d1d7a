#include "tools/commands/plan.hpp"

#include "base/text.hpp"
#include "tools/commands/prepare.hpp"
#include "tools/json/json.hpp"

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

// A word as a shell takes it; the braces of places stay bare, for the eye.
std::string shell_word(const std::string& word) {
  std::string bare;
  for (const char c : word) {
    if (c != '{' && c != '}') bare += c;
  }
  return shell_quote(bare) == bare ? word : shell_quote(word);
}

}  // namespace

std::string plan_as_json(const Plan& plan, const std::vector<std::string>& missing_targets) {
  Json::Object places{{"src", plan.source_root.string()}, {"out", plan.out_root.string()}};
  for (const auto& [name, path] : plan.places) places.push_back({name, path});
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
  world.out << (options.json ? plan_as_json(prepared.plan, prepared.missing_targets)
                             : plan_as_text(prepared.plan, prepared.missing_targets));
  return 0;
}

}  // namespace kiln::tools
