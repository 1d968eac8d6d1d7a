#include "tools/stages/ptxas_log.hpp"

#include <optional>

#include "base/parse_integer.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

// Returns the text between `before` and `after` in `line`.
std::optional<std::string_view> between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  const std::size_t start = line.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  line.remove_prefix(start + before.size());
  const std::size_t end = line.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

// Returns the number directly before `unit`.
std::optional<std::uint32_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return parse_integer<std::uint32_t>(line.substr(start, end - start));
}

}  // namespace

std::vector<PtxasKernel> parse_ptxas_log(std::string_view log) {
  std::vector<PtxasKernel> kernels;
  bool properties_are_the_kernels = false;
  for (const std::string_view line : split(log, '\n')) {
    if (const auto name = between(line, "Compiling entry function '", "'")) {
      const auto target = between(line, "' for '", "'");
      kernels.push_back({.name = std::string(*name),
                         .target = std::string(target.value_or(""))});
      properties_are_the_kernels = true;
      continue;
    }
    if (kernels.empty()) continue;
    PtxasKernel& kernel = kernels.back();
    if (line.find("Function properties for ") != std::string_view::npos) {
      const std::string_view function =
          trim(line.substr(line.find("Function properties for ") + 24));
      properties_are_the_kernels = function == kernel.name;
    } else if (const auto stack = number_before(line, " bytes stack frame")) {
      if (!properties_are_the_kernels) continue;
      kernel.stack_bytes = *stack;
      kernel.spill_store_bytes = number_before(line, " bytes spill stores").value_or(0);
      kernel.spill_load_bytes = number_before(line, " bytes spill loads").value_or(0);
    } else if (const auto registers = number_before(line, " registers")) {
      kernel.registers = *registers;
    }
  }
  return kernels;
}

bool is_ptxas_property(std::string_view line) {
  const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  if (has(" bytes stack frame, ")) return true;
  return line.starts_with("ptxas info ") &&
         (has(": Compiling entry function ") || has(": Function properties for ") ||
          has(": Used ") || has(" bytes gmem") || has(": Compile time = "));
}

}  // namespace kiln::tools
