#include "tools/commands/complete.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "formats/image.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// True if no shell treats a character of the word specially.
bool is_plain(const std::string& word) {
  return !word.empty() && word.front() != '-' && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.:+-").find(c) != std::string_view::npos;
  });
}

// Reads names without checking the rest of the manifest, which may be unfinished.
std::vector<std::string> names_in(const Json& document, const std::string& kind) {
  std::vector<std::string> names;
  const auto add = [&](const Json* list) {
    if (list == nullptr || list->array() == nullptr) return;
    for (const Json& item : *list->array()) {
      if (item.text() != nullptr) names.push_back(*item.text());
    }
  };
  if (kind == "targets") add(document.find("targets"));
  const Json* const modules = document.find("modules");
  if (modules == nullptr || modules->array() == nullptr) return names;
  for (const Json& module : *modules->array()) {
    if (kind == "targets") add(module.find("targets"));
    const Json* const name = module.find("name");
    if (kind == "modules" && name != nullptr && name->text() != nullptr) {
      names.push_back(*name->text());
    }
  }
  return names;
}

std::vector<std::string> kernels_in(std::string_view bytes) {
  std::vector<std::string> names;
  const auto image = read_image(std::as_bytes(std::span(bytes)));
  if (!image) return names;
  for (const KernelInfo& kernel : image->kernels) names.push_back(kernel.name);
  return names;
}

}  // namespace

Result<int> run_complete(const CompleteOptions& options, World& world) {
  fs::path file = world.environment.current_directory / options.file;
  if (options.file.empty()) file /= "targets.json";
  if (world.files.kind(file) == PathKind::kFolder) file /= "kiln.json";
  const Result<std::string> text = world.files.read(file);
  if (!text) return 0;
  std::vector<std::string> names;
  if (options.kind == "kernels") {
    names = kernels_in(*text);
  } else if (const auto document = read_json(*text, "")) {
    names = names_in(*document, options.kind);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  for (const std::string& name : names) {
    if (is_plain(name)) world.out << name << "\n";
  }
  return 0;
}

}  // namespace kiln::tools
