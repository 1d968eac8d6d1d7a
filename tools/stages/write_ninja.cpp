#include "tools/stages/write_ninja.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/depfile.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/plan_compile.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// Escapes a path for a build line.
std::string escaped_path(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '$' || c == ' ' || c == ':') escaped += '$';
    escaped += c;
  }
  return escaped;
}

// Escapes a command for the value of a variable.
Result<std::string> escaped_command(const std::vector<std::string>& words) {
  std::string escaped;
  for (const char c : shell_line(words)) {
    if (c == '\n') {
      return Error{ErrorCode::kInvalidInput, "a command of the plan cannot be in a Ninja file"}
          .note("one of its words holds a new line: " + quote(join(words, " ")))
          .hint("look at the flags and defines of the manifest");
    }
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

class Writer {
 public:
  explicit Writer(const NinjaRequest& request) : request_(request), plan_(request.plan) {}

  Result<std::string> write() {
    text_ = std::string(kNinjaFileStart) +
            "ninja_required_version = 1.7\n"
            "rule kiln_step\n  command = $command\n  description = $id\n  restat = 1\n"
            "rule kiln_compile\n  command = $command\n  description = $id\n  restat = 1\n"
            "  depfile = $depfile\n  deps = gcc\n"
            "rule kiln_plan\n  command = $command\n  description = plan\n  restat = 1\n"
            "  generator = 1\n";
    KILN_TRY(edge_of_file());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      KILN_TRY(edge_of_step(plan_.steps[i], request_.steps[i]));
    }
    KILN_TRY(edge_of_assembly());
    return tools_text_.empty() ? text_ : text_ + tools_text_;
  }

 private:
  // Returns the checked and escaped name of a file in the Ninja file.
  Result<std::string> name(const fs::path& path) {
    const fs::path inner = path.lexically_relative(request_.folder);
    const bool is_below = !inner.empty() && *inner.begin() != ".." && inner != ".";
    std::string spelt = is_below ? inner.string() : path.string();
    KILN_TRY(check_rule_path(spelt));
    return escaped_path(spelt);
  }
  Result<std::string> neutral_name(std::string_view neutral) {
    return name(expand(neutral, plan_));
  }

  // Returns each name once, in order, with a blank before it.
  Result<std::string> names(const std::vector<fs::path>& paths) {
    std::set<fs::path> seen;
    std::string line;
    for (const fs::path& path : paths) {
      if (!seen.insert(path).second) continue;
      KILN_TRY_ASSIGN(const std::string escaped, name(path));
      line += " " + escaped;
    }
    return line;
  }

  // Returns the phony edge for the files that decide what the step's tool makes.
  Result<std::string> tools_of(const Step& step) {
    std::vector<fs::path> parts;
    for (const Tool::Part& part : request_.toolchain.tool(step.tool).parts) {
      const auto& roles = step.tool_roles;
      if (std::find(roles.begin(), roles.end(), part.role) != roles.end()) {
        parts.push_back(part.path);
      }
    }
    const auto [known, is_new] =
        tools_.emplace(parts, "{out}/.kiln/tools/" + std::to_string(tools_.size() + 1));
    KILN_TRY_ASSIGN(std::string tools, neutral_name(known->second));
    if (is_new) {
      KILN_TRY_ASSIGN(const std::string listed, names(parts));
      tools_text_ += "build " + tools + ": phony" + listed + "\n";
    }
    return tools;
  }

  Result<void> edge_of_step(const Step& step, const NinjaStep& more) {
    const bool has_depfile = !step.depfile.empty();
    std::vector<fs::path> inputs, named(more.named.begin(), more.named.end());
    for (const std::string& input : step.inputs) inputs.push_back(expand(input, plan_));
    for (const std::uint32_t before : step.after) {
      inputs.push_back(expand(plan_.steps[before].output, plan_));
    }
    // kiln changes what hipify-perl and nvcc write, so the step depends on the program.
    if (step.kind == StepKind::kHipify || makes_ptx(step)) named.push_back(request_.program);
    KILN_TRY_ASSIGN(const std::string output, neutral_name(step.output));
    KILN_TRY_ASSIGN(const std::string log, neutral_name(more.log));
    KILN_TRY_ASSIGN(const std::string tools, tools_of(step));
    KILN_TRY_ASSIGN(const std::string input_names, names(inputs));
    KILN_TRY_ASSIGN(const std::string named_names, names(named));
    KILN_TRY_ASSIGN(const std::string command, escaped_command(command_of(step, more)));
    text_ += "\nbuild " + output + " | " + log + ": " +
             (has_depfile ? "kiln_compile" : "kiln_step") + input_names + " | " + tools +
             named_names + "\n  id = " + escaped_path(step.id) + "\n  command = " + command + "\n";
    if (has_depfile) {
      KILN_TRY_ASSIGN(const std::string depfile, neutral_name(step.depfile));
      text_ += "  depfile = " + depfile + "\n";
    }
    return {};
  }

  std::string shown(const fs::path& path) const {
    const fs::path inner = path.lexically_relative(request_.folder);
    const bool is_below = !inner.empty() && *inner.begin() != "..";
    return is_below ? inner.string() : path.string();
  }

  std::vector<std::string> command_of(const Step& step, const NinjaStep& more) const {
    std::vector<std::string> words = {request_.program.string(),
                                      "step",
                                      "--src=" + shown(plan_.source_root),
                                      "--out=" + shown(plan_.out_root),
                                      "--kind=" + std::string(to_string(step.kind)),
                                      "--tool=" + std::string(to_string(step.tool)),
                                      "--id=" + step.id,
                                      "--output=" + shown(expand(step.output, plan_))};
    if (!step.depfile.empty()) words.push_back("--depfile=" + shown(expand(step.depfile, plan_)));
    if (step.kind == StepKind::kHipify) {
      words.push_back("--source=" + in_source_root(step.inputs.front(), plan_));
    }
    if (step.kind == StepKind::kCompile) {
      for (const std::string& input : step.inputs) {
        if (input.starts_with(kHipFolder))
          words.push_back("--converted=" + shown(expand(input, plan_)));
      }
    }
    std::map<std::string, std::string> variables(more.environment.begin(), more.environment.end());
    for (const auto& [key, value] : step.environment) variables[key] = in_source_root(value, plan_);
    for (const auto& [key, value] : variables) words.push_back("--set=" + key + "=" + value);
    words.push_back("--");
    for (std::string& word : command_line(step, plan_)) words.push_back(std::move(word));
    return words;
  }

  // Returns the manifest, abi files and sources.
  std::vector<fs::path> sources() const {
    std::vector<fs::path> paths = request_.read;
    for (const Step& step : plan_.steps) {
      for (const std::string& input : step.inputs) {
        if (input.starts_with("{src}/")) paths.emplace_back(expand(input, plan_));
      }
    }
    return paths;
  }

  std::vector<std::string> asked(const std::string& command) const {
    std::vector<std::string> words = {request_.program.string(), command};
    words.insert(words.end(), request_.asked.begin(), request_.asked.end());
    return words;
  }

  Result<void> edge_of_file() {
    std::vector<std::string> words = asked("plan");
    words.push_back("--ninja=" + shown(request_.file));
    std::vector<fs::path> inputs = sources();
    inputs.push_back(request_.program);
    KILN_TRY_ASSIGN(const std::string file, name(request_.file));
    KILN_TRY_ASSIGN(const std::string input_names, names(inputs));
    KILN_TRY_ASSIGN(const std::string command, escaped_command(words));
    text_ += "\nbuild " + file + ": kiln_plan" + input_names + "\n  command = " + command + "\n";
    // If a source is gone, this makes Ninja plan anew instead of failing.
    KILN_TRY_ASSIGN(const std::string source_names, names(sources()));
    text_ += "build" + source_names + ": phony\n";
    return {};
  }

  Result<void> edge_of_assembly() {
    std::vector<fs::path> inputs = sources(), written;
    for (const std::string& path : request_.written) written.push_back(plan_.out_root / path);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].kind == StepKind::kHipify) continue;
      inputs.push_back(expand(plan_.steps[i].output, plan_));
      inputs.push_back(expand(request_.steps[i].log, plan_));
    }
    inputs.push_back(request_.program);
    for (const auto& [parts, name] : tools_) inputs.push_back(expand(name, plan_));
    KILN_TRY_ASSIGN(const std::string outputs, names(written));
    KILN_TRY_ASSIGN(const std::string input_names, names(inputs));
    KILN_TRY_ASSIGN(const std::string command, escaped_command(asked("assemble")));
    text_ += "\nbuild" + outputs + ": kiln_step" + input_names +
             "\n  id = catalog and header\n  command = " + command + "\n\n";
    return {};
  }

  const NinjaRequest& request_;
  const Plan& plan_;
  std::string text_, tools_text_;
  std::map<std::vector<fs::path>, std::string> tools_;  // parts -> name of their phony edge
};

}  // namespace

Result<std::string> write_ninja(const NinjaRequest& request) { return Writer(request).write(); }

}  // namespace kiln::tools
