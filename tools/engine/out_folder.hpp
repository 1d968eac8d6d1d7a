// The out folder as a whole: whose it is, and where a build puts what is not whole yet.
#pragma once

#include <filesystem>

#include "kiln/result.hpp"
#include "tools/system/files.hpp"
#include "tools/system/held_files.hpp"

namespace kiln::tools {

// Whether a build may fill the folder: it is not there, holds no file, or was filled by kiln before. The
// error (kInvalidInput) names it as the user did. Before the folder's lock is taken, which marks it.
Result<void> check_out_folder(const Files& files, const std::filesystem::path& out_root,
                              const std::filesystem::path& as_given);

// Whether a build may write its depfile there: nothing is there, or what an earlier build wrote.
// The error (kInvalidInput) names the file as the user did.
Result<void> check_depfile(const Files& files, const std::filesystem::path& out_root,
                           const std::filesystem::path& path,
                           const std::filesystem::path& as_given);

// out/.kiln/lock: whoever builds in the folder holds it, and where it is, kiln made the folder.
std::filesystem::path lock_file(const std::filesystem::path& out_root);

// Below it lie the folders of one run, and of each of its steps.
std::filesystem::path scratch_folders(const std::filesystem::path& out_root);

// Where `files` writes first, while this lives; under the folder's lock. What killed builds left is
// removed before, and what this one leaves at its end.
class Staging {
 public:
  static Result<Staging> make(HeldFiles& files, const std::filesystem::path& out_root);
  ~Staging();
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  Staging(HeldFiles& files, std::filesystem::path folder);
  HeldFiles* files_;
  std::filesystem::path folder_;
};

}  // namespace kiln::tools
