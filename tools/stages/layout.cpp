#include "tools/stages/layout.hpp"

#include <algorithm>
#include <string_view>

#include "formats/image_format.hpp"

namespace kiln::tools {
namespace {

// Equals std::filesystem::path::stem(), which is slower because it parses the path first.
std::string_view stem_of(const Located<std::string>& source) {
  const std::string_view path = source.value;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == 0 || name == ".." ? name : name.substr(0, dot);
}

// Characters that are safe in a file name, in a step's id and in a tool's list of words.
bool is_plain_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// Returns a path such as "affine/gfx1030", or "quantized/matvec/gfx1030" in a module with several
// units.
std::string inner_path(const ModuleSpec& module, std::size_t unit, const TargetId& target) {
  const std::string name = unit_name(module, unit);
  return module.name.value + "/" + (name.empty() ? "" : name + "/") + file_name(target);
}

}  // namespace

std::string bundle_entry_name(const TargetId& target) {
  return "hipv4-amdgcn-amd-amdhsa--" + to_string(target);
}

std::string unit_name(const ModuleSpec& module, std::size_t unit) {
  if (module.sources.size() == 1) return {};
  std::string stem(stem_of(module.sources[unit]));
  const auto namesakes = std::count_if(module.sources.begin(), module.sources.end(),
                                       [&](const auto& other) { return stem_of(other) == stem; });
  const bool is_plain = std::all_of(stem.begin(), stem.end(), is_plain_letter) &&
                        stem.front() != '.' && stem.front() != '-';
  if (namesakes == 1 && is_plain) return stem;
  // Unique: plain stems contain no '@', and each unit has its own position.
  std::replace_if(stem.begin(), stem.end(), [](char c) { return !is_plain_letter(c); }, '_');
  if (stem.front() == '.' || stem.front() == '-') stem.front() = '_';
  return stem + "@" + std::to_string(unit);
}

std::string hip_path(std::string_view source) { return std::string(kHipFolder).append(source); }

std::string image_path(const ModuleSpec& module, std::size_t unit, const TargetId& target) {
  return "{out}/images/" + inner_path(module, unit, target) + "." +
         std::string(file_extension(format_of(target.kind)));
}

std::string depfile_path(const ModuleSpec& module, std::size_t unit, const TargetId& target) {
  return "{out}/.kiln/deps/" + inner_path(module, unit, target) + ".d";
}

std::string bundle_path(const ModuleSpec& module, std::size_t unit, std::string_view extension) {
  const std::string name = unit_name(module, unit);
  return "{out}/bundles/" + module.name.value + (name.empty() ? "" : "." + name) + "." +
         std::string(extension);
}

std::string joined_path(const ModuleSpec& module, const TargetId& target) {
  return "{out}/bundles/" + module.name.value + "." + file_name(target) + "." +
         std::string(file_extension(format_of(target.kind)));
}

std::string joined_depfile_path(const ModuleSpec& module, const TargetId& target) {
  // No unit has the name '@'.
  return "{out}/.kiln/deps/" + module.name.value + "/@/" + file_name(target) + ".d";
}

}  // namespace kiln::tools
