#include "tools/commands/verify.hpp"

#include <map>
#include <optional>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/commands/verification.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/parse_limits.hpp"
#include "tools/stages/parse_manifest.hpp"
#include "tools/stages/read_catalog.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// `sizes` receives the sizes of the images, by path.
Result<BuildFolder> read_catalog_and_sizes(const fs::path& folder, const fs::path& shown, const Files& files,
                                           std::map<std::string, std::uint64_t>& sizes) {
  const std::string name = (shown / "kiln.json").generic_string();
  KILN_TRY_ASSIGN(const Json document, read_build_document(folder, shown, files));
  KILN_TRY_ASSIGN(CatalogRecord record, read_catalog(document, name));
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> images, read_images(document, name));
  for (const ImageSummary& image : images) sizes[image.path] = image.size;
  return BuildFolder{shown, std::move(record.catalog), std::move(record.bundles), {}};
}

Json verify_json(const Catalog& catalog, std::size_t images, const Floors& floors) {
  const auto release = [](std::uint32_t floor) { return floor == 0 ? Json() : Json(spell_release(floor)); };
  return Json::Object{{"format", 1},
                      {"status", "ok"},
                      {"targets", Json::Array(catalog.targets.begin(), catalog.targets.end())},
                      {"images", images},
                      {"needs_cuda", release(floors.cuda)},
                      {"needs_rocm", release(floors.rocm)},
                      {"errors", Json::Array()}};
}

}  // namespace

Result<int> run_verify(const VerifyOptions& options, World& world) {
  const fs::path& current_folder = world.environment.current_directory;
  const auto [folder, shown] = build_path(options.folder, current_folder);
  KILN_TRY_ASSIGN(const FolderLock lock, hold_built_folder(shown, world));
  std::map<std::string, std::uint64_t> sizes;
  Result<BuildFolder> read = read_catalog_and_sizes(folder, shown, world.files, sizes);
  if (!read) {
    Error error = std::move(read).error();
    // An existing but unreadable catalog is a failed check.
    if (world.files.kind(folder / "kiln.json") == PathKind::kFile) error.code = ErrorCode::kBuildFailed;
    return error;
  }
  BuildFolder build = std::move(read).value();
  std::optional<Manifest> manifest;
  if (!options.manifest.empty()) {
    KILN_TRY_ASSIGN(manifest, parse_manifest(options.manifest, current_folder, world.files));
    build.catalog.settings.floors = manifest->floors;
    build.catalog.settings.budgets = manifest->budgets;
    for (Module& module : build.catalog.modules) {
      for (const ModuleSpec& spec : manifest->modules) {
        if (spec.name.value == module.name) module.budgets = spec.budgets;
      }
    }
  }
  for (const BundleRecord& bundle : build.bundles) sizes[bundle.path] = bundle.size;
  Verification verification(build, std::move(sizes), folder, shown, world.files);
  verification.read_files();
  verification.check_included();
  verification.check_sources();
  verification.check_no_others();
  verification.read_images();
  if (manifest) verification.check_modules(*manifest);
  verification.check_kernels(manifest ? &*manifest : nullptr);
  verification.check_limits();
  const Floors floors = verification.floors();
  std::vector<Error> errors = verification.errors();
  std::optional<Error> error;
  if (!errors.empty()) error = merge_errors(std::move(errors));
  if (error) return *std::move(error);
  if (options.json) {
    world.out << write_json(verify_json(build.catalog, verification.images(), floors));
    return 0;
  }
  world.out << shown.string() << ": " << counted(verification.images(), "image") << " of "
            << counted(build.catalog.modules.size(), "module") << " for "
            << counted(build.catalog.targets.size(), "target") << ", all as built\n";
  if (floors.cuda != 0) {
    world.out << "needs a driver for CUDA " << spell_release(floors.cuda) << " or later\n";
  }
  if (floors.rocm != 0) world.out << "needs ROCm " << spell_release(floors.rocm) << " or later\n";
  return 0;
}

}  // namespace kiln::tools
