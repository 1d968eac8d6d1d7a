#include "tools/commands/merge.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/build_output.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/commands/shared_store.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/stages/combine.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

Result<void> check_out(const fs::path& out, const std::vector<fs::path>& parts,
                       const World& world) {
  for (const fs::path& part : parts) {
    if (world.environment.absolute(part) != world.environment.absolute(out)) continue;
    return Error{ErrorCode::kInvalidInput,
                 quote(part.string()) + " cannot be read and written at once"}
        .hint("choose another out folder: --out DIR");
  }
  return check_out_folder(world.files, world.environment.absolute(out), out);
}

// Lists the targets and modules of the existing build that the new one lacks, and whose images are
// removed. Empty if there is no readable build.
std::vector<std::string> targets_to_remove(const fs::path& folder, const Catalog& current,
                                           const World& world) {
  const Result<BuildFolder> old = read_build_catalog(folder, folder, world.files);
  if (!old) return {};
  std::vector<std::string> removed;
  for (const std::string& target : old->catalog.targets) {
    if (std::ranges::find(current.targets, target) == current.targets.end()) {
      removed.push_back(target);
    }
  }
  for (const Module& module : old->catalog.modules) {
    if (std::ranges::find(current.modules, module.name, &Module::name) != current.modules.end()) {
      continue;
    }
    removed.push_back("module " + module.name);
  }
  return removed;
}

// Reads a part while no build changes it.
Result<BuildFolder> read_part(const fs::path& path, World& world) {
  KILN_TRY_ASSIGN(const FolderLock lock, hold_built_folder(path, world));
  return read_build_folder(world.environment.absolute(path), path, world.files);
}

// Writes the build to the folder of --out and reports it.
Result<int> write(const BuildFolder& build, const fs::path& out, World& world) {
  const fs::path folder = world.environment.absolute(out);
  KILN_TRY_ASSIGN(const StorePolicies policies, store_policies(world.environment));
  KILN_TRY_ASSIGN(const OpenedFolder opened, open_out_folder(folder, world));
  SharedStore store(StoreUse::kFolder, policies, opened.cache, world);  // keeps compressed images
  const std::vector<std::string> removed = targets_to_remove(folder, build.catalog, world);
  KILN_TRY(write_build_folder(build, folder, *opened.files, store.get()));
  std::size_t images = 0, kernels = 0;
  for (const Module& module : build.catalog.modules) {
    images += module.images.size();
    kernels += module.kernels.size();
  }
  if (!removed.empty()) {
    world.err << "kiln: removed what " << out.string() << " held for " << join(removed, ", ")
              << "\n";
  }
  world.out << counted(kernels, "kernel") << " in " << counted(images, "image") << " for "
            << counted(build.catalog.targets.size(), "target") << ": "
            << spell_emitted(out, build.catalog.settings.embed) << "\n";
  return 0;
}

}  // namespace

Result<int> run_merge(const MergeOptions& options, World& world) {
  KILN_TRY(check_out(options.out, options.parts, world));
  // Checks that every part is complete.
  std::vector<BuildFolder> builds;
  std::vector<Part> parts;
  std::vector<Error> errors;
  for (const fs::path& path : options.parts) {
    Result<BuildFolder> build = read_part(path, world);
    if (!build) {
      errors.push_back(std::move(build).error());
      continue;
    }
    parts.push_back({path.string(), build->catalog});
    builds.push_back(std::move(*build));
  }
  if (!errors.empty()) return merge_errors(std::move(errors));
  // Checks that the parts belong to one build.
  BuildFolder whole;
  KILN_TRY_ASSIGN(whole.catalog, combine(parts));
  KILN_TRY_ASSIGN(whole.files, repack(whole.catalog, builds));
  return write(whole, options.out, world);
}

Result<int> run_strip(const StripOptions& options, World& world) {
  KILN_TRY(check_out(options.out, {options.folder}, world));
  KILN_TRY_ASSIGN(BuildFolder build, read_part(options.folder, world));
  std::vector<TargetId> targets_to_keep;
  for (const std::string& text : options.keep) {
    const std::string targets = quote(options.folder.string()) + " is built for " + join(build.catalog.targets, ", ");
    Result<TargetId> target = parse_target_id(text);
    if (!target) return std::move(target).error().note(targets);
    const std::string name = to_string(*target);
    if (std::ranges::find(build.catalog.targets, name) == build.catalog.targets.end()) {
      return Error{ErrorCode::kInvalidInput,
                   quote(options.folder.string()) + " holds nothing for " + quote(name)}
          .note(targets);
    }
    targets_to_keep.push_back(*std::move(target));
  }
  BuildFolder stripped;
  stripped.catalog = keep_targets(build.catalog, targets_to_keep);
  KILN_TRY_ASSIGN(stripped.files, repack(stripped.catalog, {build}));
  return write(stripped, options.out, world);
}

}  // namespace kiln::tools
