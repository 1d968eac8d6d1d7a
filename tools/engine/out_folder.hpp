// The out folder as a whole: whom it belongs to, and where a build puts unfinished files.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/system/files.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {

// Checks that a build may fill the folder: it does not exist, holds no file, or was filled by kiln
// before. The error (kInvalidInput) names the folder as the user did. Call it before the folder's
// lock is taken, because the lock marks the folder as kiln's.
Result<void> check_out_folder(const Files& files, const std::filesystem::path& out_root,
                              const std::filesystem::path& as_given);

// Checks that a build may write its depfile to `path`: no file is there, or an earlier build wrote
// it. The error (kInvalidInput) names the file as the user did.
Result<void> check_depfile(const Files& files, const std::filesystem::path& out_root,
                           const std::filesystem::path& path,
                           const std::filesystem::path& as_given);

// out/.kiln/lock. A build in the folder holds it. If the file exists, the folder is kiln's.
std::filesystem::path lock_file(const std::filesystem::path& out_root);

// Parent of the scratch folders of a run and of its steps.
std::filesystem::path scratch_folders(const std::filesystem::path& out_root);

// While it lives, `files` writes new files into its folder first. The caller holds the out folder's
// lock. make() removes what killed builds left; the destructor removes the folder.
class Staging {
 public:
  static Result<Staging> make(SandboxedFiles& files, const std::filesystem::path& out_root);
  ~Staging();
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  Staging(SandboxedFiles& files, std::filesystem::path folder);
  SandboxedFiles* files_;
  std::filesystem::path folder_;
};

}  // namespace kiln::tools
