#include "tools/stages/tool_bounds.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "tools/stages/tool_use.hpp"

namespace kiln::tools {
namespace {

using Need = JsonReader::Need;

struct NamedTool {
  ToolKind kind;
  std::string_view variable;  // names another program to use
};
constexpr std::array<NamedTool, 6> kTools = {{{ToolKind::kHipify, "KILN_HIPIFY_PERL"},
                                              {ToolKind::kHipCompiler, "KILN_HIPCC"},
                                              {ToolKind::kOffloadBundler, "KILN_OFFLOAD_BUNDLER"},
                                              {ToolKind::kNvcc, "KILN_NVCC"},
                                              {ToolKind::kFatbinary, "KILN_FATBINARY"},
                                              {ToolKind::kHostCompiler, "KILN_CXX"}}};

constexpr std::size_t kMaxNumbers = 4;

// "12.4" -> {12, 4}; empty if the text is not a version.
std::vector<std::uint32_t> numbers_of(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  for (const std::string_view part : split(text, '.')) {
    const auto number = parse_integer<std::uint32_t>(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers.size() <= kMaxNumbers ? numbers : std::vector<std::uint32_t>();
}

Located<std::string> bound(JsonReader& reader, const Json& value, const std::string& what) {
  const std::string* text = reader.text(value, what);
  if (text == nullptr) return {};
  if (numbers_of(*text).empty()) {
    reader.report(value, what + " " + quote(*text) + " is not a version")
        .hint("write it like '12.4'");
    return {};
  }
  return {*text, reader.where(value)};
}

Error unwanted(const Tool& tool, const Located<std::string>& bound, std::string_view how,
               std::string_view which) {
  Error error{ErrorCode::kUnavailable,
              std::string(to_string(tool.kind)) + " " + bounded_version(tool) + " is " +
                  std::string(how) + " than the " + std::string(which) +
                  " that this manifest allows, " + quote(bound.value),
              bound.where};
  error.note("it is " + tool.path.string() + " (" + tool.rule + ")");
  for (const NamedTool& named : kTools) {
    if (named.kind != tool.kind) continue;
    error.hint("name another one: " + std::string(named.variable) + "=/path/to/it");
  }
  return error;
}

std::optional<Error> find_unwanted(const ToolBounds& bounds, const Toolchain& toolchain) {
  const Tool& tool = toolchain.tool(bounds.tool);
  if (!tool.found()) return std::nullopt;
  const std::string version = bounded_version(tool);
  if (!bounds.min.value.empty() && compare_to_bound(version, bounds.min.value) < 0) {
    return unwanted(tool, bounds.min, "older", "least");
  }
  if (!bounds.max.value.empty() && compare_to_bound(version, bounds.max.value) > 0) {
    return unwanted(tool, bounds.max, "newer", "greatest");
  }
  return std::nullopt;
}

}  // namespace

std::vector<ToolBounds> parse_tool_bounds(JsonReader& reader, const Json& value) {
  std::vector<ToolBounds> all;
  const auto field = [&](ToolKind kind) {
    return JsonReader::Field{
        to_string(kind), Need::kOptional, [&, kind](const Json& json) {
          ToolBounds bounds{.tool = kind, .min = {}, .max = {}};
          const std::string of = "of '" + std::string(to_string(kind)) + "'";
          reader.object(json, "the bounds " + of,
                        {{"min", Need::kOptional,
                          [&](const Json& v) { bounds.min = bound(reader, v, "'min' " + of); }},
                         {"max", Need::kOptional,
                          [&](const Json& v) { bounds.max = bound(reader, v, "'max' " + of); }}});
          const bool has_both = !bounds.min.value.empty() && !bounds.max.value.empty();
          if (has_both && compare_to_bound(bounds.min.value, bounds.max.value) > 0) {
            reader.report(json, "'min' " + of + " is above its 'max'");
          }
          all.push_back(std::move(bounds));
        }};
  };
  reader.object(
      value, "the manifest's 'tools'",
      {field(ToolKind::kHipify), field(ToolKind::kHipCompiler), field(ToolKind::kOffloadBundler),
       field(ToolKind::kNvcc), field(ToolKind::kFatbinary), field(ToolKind::kHostCompiler)});
  return all;
}

std::string bounded_version(const Tool& tool) {
  constexpr std::string_view kDigits = "0123456789";
  const std::string_view text = tool.version;
  const std::size_t first = text.find_first_of(kDigits);
  if (first == std::string_view::npos) return {};
  const std::string_view rest = text.substr(first);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

int compare_to_bound(std::string_view version, std::string_view bound) {
  const std::vector<std::uint32_t> limit = numbers_of(bound);
  std::vector<std::uint32_t> numbers = numbers_of(version);
  numbers.resize(limit.size());
  if (numbers == limit) return 0;
  return numbers < limit ? -1 : 1;
}

std::optional<Error> find_unwanted_version(const std::vector<ToolBounds>& allowed,
                                           const TargetId& target, const Toolchain& toolchain) {
  const auto used = roles_used({target});
  for (const ToolBounds& bounds : allowed) {
    if (!used.contains(bounds.tool)) continue;
    if (auto error = find_unwanted(bounds, toolchain)) return error;
  }
  return std::nullopt;
}

Result<void> check_tool_versions(const std::vector<ToolBounds>& allowed, const Manifest& manifest,
                                 const Toolchain& toolchain) {
  std::vector<TargetId> targets;
  for (const ModuleSpec& module : manifest.modules) {
    for (const Located<TargetId>& target : targets_of(manifest, module)) {
      targets.push_back(target.value);
    }
  }
  const auto used = roles_used(targets);
  std::vector<Error> errors;
  for (const ToolBounds& bounds : allowed) {
    if (!used.contains(bounds.tool)) continue;
    if (auto error = find_unwanted(bounds, toolchain)) errors.push_back(std::move(*error));
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  return {};
}

}  // namespace kiln::tools
