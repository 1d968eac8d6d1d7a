#include "tools/commands/lock.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/lock_file.hpp"

namespace kiln::tools {

Result<int> run_lock(const LockOptions& options, World& world) {
  const std::filesystem::path& current_folder = world.environment.current_directory;
  const std::filesystem::path file = (current_folder / options.file).lexically_normal();
  if (world.files.kind(file) == PathKind::kFolder) {
    return Error{ErrorCode::kInvalidInput, quote(options.file.string()) + " is a folder, and no lock file"}.hint(
        "name a file: --out FILE");
  }
  KILN_TRY_ASSIGN(const FolderLock lock, hold_built_folder(options.folder, world));
  // Checks that every file exists and is what the catalog says.
  KILN_TRY_ASSIGN(const BuildFolder build,
                  read_build_folder((current_folder / options.folder).lexically_normal(),
                                    options.folder, world.files));
  if (options.file == "-") {
    world.out << write_json(lock_json(build.catalog));
    return 0;
  }
  if (world.files.kind(file) != PathKind::kNone) {
    KILN_TRY_ASSIGN(const std::string text, world.files.read(file));
    if (!text.empty() && !read_lock(text, options.file.generic_string())) {
      return Error{ErrorCode::kInvalidInput,
                   quote(options.file.string()) + " cannot be the lock file: it holds something "
                                                  "else, which would be lost"}
          .hint("name another one: --out FILE");
    }
  }
  KILN_TRY(world.files.write_if_changed(file, write_json(lock_json(build.catalog))));
  std::size_t images = 0;
  for (const Module& module : build.catalog.modules) images += module.images.size();
  world.out << counted(build.catalog.tools.size(), "tool") << ", "
            << counted(build.catalog.modules.size(), "module") << " and "
            << counted(images, "image") << ": " << options.file.string() << "\n";
  return 0;
}

}  // namespace kiln::tools
