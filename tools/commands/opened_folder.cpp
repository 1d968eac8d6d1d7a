#include "tools/commands/opened_folder.hpp"

#include <utility>

#include "base/text.hpp"

namespace kiln::tools {

Result<OpenedFolder> open_out_folder(const std::filesystem::path& out, World& world,
                                     std::vector<std::filesystem::path> single) {
  const auto waiting = [&] { world.err << "kiln: waiting for another build in this folder\n"; };
  KILN_TRY_ASSIGN(FolderLock lock, FolderLock::take(lock_file(out), world.interrupt, waiting));
  CacheFolder cache = cache_folder(world.files, world.environment);
  auto files = std::make_unique<SandboxedFiles>(world.files, std::vector{out, cache.path},
                                                std::move(single));
  KILN_TRY_ASSIGN(Staging staging, Staging::make(*files, out));
  return OpenedFolder{std::move(lock), std::move(cache), std::move(files), std::move(staging)};
}

Result<FolderLock> hold_built_folder(const std::filesystem::path& folder, World& world) {
  const auto waiting = [&] {
    world.err << "kiln: waiting for a build in '" << printable_line(folder.string()) << "'\n";
  };
  return FolderLock::share(lock_file(world.environment.absolute(folder)), world.interrupt, waiting);
}

}  // namespace kiln::tools
