// An out folder that a command fills: locked, with the files that may be changed in it and in the
// cache.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"
#include "tools/engine/out_folder.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/folder_lock.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {

struct OpenedFolder {
  FolderLock lock;
  CacheFolder cache;
  std::unique_ptr<SandboxedFiles> files;
  Staging staging;
};

// Waits while another build has the folder, and says so. `single` lists further files that may be
// written; empty paths are ignored. Errors: kInterrupted; kEnvironment if the folder cannot be made
// or locked.
Result<OpenedFolder> open_out_folder(const std::filesystem::path& out, World& world,
                                     std::vector<std::filesystem::path> single = {});

// Waits while a build has the folder, and says so. No build changes the folder while the lock lives.
// `folder` need not be a build's. Errors: kInterrupted.
Result<FolderLock> hold_built_folder(const std::filesystem::path& folder, World& world);

}  // namespace kiln::tools
