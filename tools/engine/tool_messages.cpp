#include "tools/engine/tool_messages.hpp"

#include <set>
#include <string_view>
#include <tuple>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/engine/step_error.hpp"
#include "tools/stages/ptxas_log.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMaxLines = 40;

// Clang: "2 warnings generated when compiling for gfx1030."
bool counts_warnings(std::string_view line) {
  return !line.empty() && line.front() >= '0' && line.front() <= '9' &&
         line.find(" generated") != std::string_view::npos;
}

// The lines of a log that say something, each message once. A message is a line that begins at the
// margin, with the indented lines below it.
std::vector<std::string> telling_lines(std::string_view log) {
  std::vector<std::string> lines;
  std::set<std::string_view> messages;
  bool is_repeated = false;
  for (const std::string_view line : split(log, '\n')) {
    if (trim(line).empty() || is_ptxas_property(line) || counts_warnings(line)) continue;
    if (line.front() != ' ') is_repeated = !messages.insert(line).second;
    if (!is_repeated) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

std::string tool_message(const Step& step, const BuildContext& context, const Files& files,
                         std::string_view log) {
  if (step.kind != StepKind::kCompile) return {};
  const std::string seen = log_for_user(log, context, files);
  std::vector<std::string> lines = telling_lines(seen);
  if (lines.empty()) return {};
  std::string rest;
  if (lines.size() > kMaxLines) {
    rest = "\n... and " + std::to_string(lines.size() - kMaxLines) + " more lines, in " +
           expand(log_path(step), context.plan);
    lines.resize(kMaxLines);
  }
  return join(lines, "\n") + rest;
}

std::string message_of(const Step& step, std::string_view text) {
  return std::string(to_string(step.tool)) + " printed for " + quote(step.id) + ":\n" +
         std::string(text);
}

std::vector<std::string> tool_messages(const BuildContext& context, const Execution& execution,
                                       const Files& files) {
  std::vector<std::string> messages;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> printed;  // source and text
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    const StepStatus status = execution.steps[i].status;
    if (status != StepStatus::kRan && status != StepStatus::kCached) continue;
    const Step& step = context.plan.steps[i];
    const Result<std::string> log = files.read(expand(log_path(step), context.plan));
    if (!log) continue;
    const std::string text = tool_message(step, context, files, *log);
    if (text.empty() || !printed.emplace(step.module, step.unit, text).second) continue;
    messages.push_back(message_of(step, text));
  }
  return messages;
}

}  // namespace kiln::tools
