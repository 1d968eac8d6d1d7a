#include "tools/engine/computed_include.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/engine/ingredients.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kSources = "{src}", kConverted = "{out}/hip";

// Returns the manifest's folder or the one below it that the neutral path names or is converted
// from, as what follows the name of the root: "" or "/device".
std::optional<std::string> local_folder(std::string_view neutral) {
  for (const std::string_view root : {kSources, kConverted}) {
    if (neutral.starts_with(root)) return std::string(neutral.substr(root.size()));
  }
  return std::nullopt;
}

}  // namespace

bool is_unconverted(std::string_view header, const std::filesystem::path& file, const Step& step,
                    const Plan& plan, const Files& files) {
  if (step.tool != ToolKind::kHipCompiler) return false;
  std::vector<std::string> folders = {neutral_path(file.parent_path(), plan)};
  for (const std::string& word : step.argv) {
    if (word.starts_with("-I")) folders.push_back(word.substr(2));
  }
  const auto is_file = [&](std::string_view root, const std::string& folder) {
    const std::filesystem::path path = expand(std::string(root) + folder, plan);
    return files.kind(path / header) == PathKind::kFile;
  };
  return std::ranges::any_of(folders, [&](const std::string& neutral) {
    const std::optional<std::string> folder = local_folder(neutral);
    return folder && is_file(kSources, *folder) && !is_file(kConverted, *folder);
  });
}

void explain_computed_include(Error& error, std::string_view header) {
  error
      .note(
          "kiln knows the headers that '#include \"x\"', '__has_include(\"x\")' and '#define NAME "
          "\"x\"' name")
      .hint("name the header in the source too, such as in '#if 0': #include \"" +
            std::string(header) + "\"");
}

}  // namespace kiln::tools
