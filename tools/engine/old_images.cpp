#include "tools/engine/old_images.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "formats/image_sources.hpp"

namespace kiln::tools {
namespace {

using Paths = std::unordered_set<std::string>;

// True if a file is the source note of a module's images (formats/image_sources.hpp) and the
// images' folder exists.
bool describes_images(const Files& files, const std::filesystem::path& path) {
  std::filesystem::path folder = path;
  return path.extension() == ".sources" &&
         files.kind(folder.replace_extension()) == PathKind::kFolder;
}

using Reads = std::vector<std::pair<std::string, Digest>>;

// Returns the files that a step read when it ran, by neutral path. The inputs are among the step's
// ingredients; the tool reported the other files.
Reads reads_of(const StepRecord& record) {
  Reads reads = record.dependencies.list();
  const Ingredients ingredients = read_ingredients(record.ingredients);
  for (const std::string_view label : {kInput, kNamedFile}) {
    for (const Ingredient& ingredient : ingredients) {
      if (!ingredient.label.starts_with(label)) continue;
      Digest digest;  // a missing file gets the zero digest, which no file has
      (void)Digest::parse(ingredient.value, digest);
      reads.emplace_back(ingredient.label.substr(label.size()), digest);
    }
  }
  return reads;
}

// Knows which outputs were made from files that have not changed since.
class CurrentOutputs {
 public:
  CurrentOutputs(const BuildContext& context, const BuildState& state)
      : context_(context), state_(state) {}

  bool contains(const Digest& output) {
    if (producers_.empty()) {
      for (const auto& [id, record] : state_.steps) producers_.emplace(record.output, &record);
    }
    const auto known = is_current_.find(output);
    if (known != is_current_.end()) return known->second;
    is_current_[output] = false;  // breaks cycles: an output that depends on itself is not current
    const auto [first, last] = producers_.equal_range(output);
    const bool is_current = std::any_of(first, last, [&](const auto& producer) {
      const Reads reads = reads_of(*producer.second);
      return std::all_of(reads.begin(), reads.end(), [&](const auto& file) {
        const auto& [path, digest] = file;
        const bool is_same = context_.digests.digest_at(expand(path, context_.plan)) == digest;
        return is_same && (!path.starts_with("{out}/") || contains(digest));
      });
    });
    is_current_[output] = is_current;
    return is_current;
  }

 private:
  const BuildContext& context_;
  const BuildState& state_;
  std::multimap<Digest, const StepRecord*> producers_;
  std::map<Digest, bool> is_current_;
};

// Returns the paths of the plan's outputs, relative to the out folder.
Paths outputs_of(const Plan& plan) {
  constexpr std::string_view kOut = "{out}/";
  Paths made;
  for (const Step& step : plan.steps) {
    if (step.output.starts_with(kOut)) made.insert(step.output.substr(kOut.size()));
  }
  return made;
}

// Removes the files below hip/`inner` for which `kept` is false, and the folders that become empty.
// `kept` is given a file's path in the sources. Adds the removed paths to `removed`.
void clear_conversions(const std::filesystem::path& folder, const std::string& inner,
                       const std::function<bool(const std::string&)>& kept, Files& files,
                       std::vector<std::string>& removed) {
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names) return;
  std::size_t left = names->size();
  for (const std::string& name : *names) {
    const PathKind kind = files.kind(folder / name);
    if (kind == PathKind::kFolder)
      clear_conversions(folder / name, inner + name + "/", kept, files, removed);
    if (kind == PathKind::kFile && !kept(inner + name) && files.remove_all(folder / name)) {
      removed.push_back("hip/" + inner + name);
    }
    if (files.kind(folder / name) == PathKind::kNone) --left;
  }
  if (left == 0) (void)files.remove_all(folder);
}

}  // namespace

bool is_of_kiln(const std::filesystem::path& path) {
  static const std::set<std::string> kEndings = {".hsaco", ".cubin",  ".ptx",
                                                 ".so",    ".fatbin", ".sources"};
  return kEndings.contains(path.extension().string());
}

std::vector<std::string> remove_old_conversions(BuildExtent extent, const Plan& plan,
                                                Files& files) {
  const Paths made = outputs_of(plan);
  std::vector<std::string> removed;
  clear_conversions(
      plan.out_root / "hip", "",
      [&](const std::string& source) {
        if (made.contains("hip/" + source)) return true;
        return extent == BuildExtent::kSelected &&
               files.kind(plan.source_root / source) == PathKind::kFile;
      },
      files, removed);
  return removed;
}

std::vector<std::string> remove_old_images(BuildExtent extent, const BuildContext& context,
                                           const BuildState& state, Files& files) {
  const std::filesystem::path& out = context.plan.out_root;
  Paths made = outputs_of(context.plan);
  for (const Step& step : context.plan.steps) {
    if (!step.module.empty()) made.insert("images/" + image_sources_path(step.module));
  }
  std::vector<std::string> found;
  for (const auto& [folder, depth] : {std::pair("images", 2), std::pair("bundles", 1)}) {
    for (std::string& path : files_below(files, out, folder, depth)) {
      if (!made.contains(path)) found.push_back(std::move(path));
    }
  }
  CurrentOutputs current(context, state);
  std::vector<std::string> removed;
  for (const std::string& path : found) {
    if (!is_of_kiln(path)) continue;
    if (extent == BuildExtent::kSelected) {
      if (describes_images(files, out / path)) continue;
      const std::optional<Digest> digest = context.digests.digest(out / path);
      if (digest && current.contains(*digest)) continue;
    }
    if (remove_with_empty_folders(files, out, path)) removed.push_back(path);
  }
  return removed;
}

}  // namespace kiln::tools
