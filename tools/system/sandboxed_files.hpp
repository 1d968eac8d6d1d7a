// The files of one build: what it may change, and where it writes unfinished files.
//
// Reads pass through to the underlying files. Changes are allowed only below the given folders,
// after links are resolved. So no path in a state file, a catalog or a link can make kiln write or
// remove anything else. With a staging folder, files are written there and renamed into place, so
// that a killed build leaves unfinished files only there.
#pragma once

#include <atomic>
#include <utility>

#include "tools/system/files.hpp"

namespace kiln::tools {

class SandboxedFiles final : public Files {
 public:
  // All paths are absolute and normalized; empty ones are ignored. `files_allowed` lists further
  // files that may be written.
  SandboxedFiles(Files& files, std::vector<std::filesystem::path> folders,
                 std::vector<std::filesystem::path> files_allowed = {})
      : files_(files), folders_(std::move(folders)), files_allowed_(std::move(files_allowed)) {}

  // Sets the staging folder, which is below one of the folders. Call it before any thread writes.
  void set_staging_folder(std::filesystem::path folder) { staging_ = std::move(folder); }

  PathKind kind(const std::filesystem::path& path) const override { return files_.kind(path); }
  Result<std::string> read(const std::filesystem::path& path) const override {
    return files_.read(path);
  }
  Result<Digest> digest(const std::filesystem::path& path) const override {
    return files_.digest(path);
  }
  Result<void> write(const std::filesystem::path& path, std::string_view bytes) override;
  std::optional<FileStatus> status(const std::string& path) const override {
    return files_.status(path);
  }
  Result<void> touch(const std::filesystem::path& path) override;
  Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<void> make_directories(const std::filesystem::path& path) override;
  Result<std::filesystem::path> make_unique_folder(const std::filesystem::path& parent) override;
  Result<void> remove_all(const std::filesystem::path& path) override;
  Result<std::vector<std::string>> list(const std::filesystem::path& folder) const override {
    return files_.list(folder);
  }
  std::filesystem::path link_target(const std::filesystem::path& path) const override {
    return files_.link_target(path);
  }
  bool leads_outside(const std::filesystem::path& root,
                     const std::filesystem::path& path) const override {
    return files_.leads_outside(root, path);
  }
  bool path_redirected_since(const std::filesystem::path& path,
                             std::int64_t time_ns) const override {
    return files_.path_redirected_since(path, time_ns);
  }
  std::string why_untrusted(const std::filesystem::path& folder) const override {
    return files_.why_untrusted(folder);
  }

 private:
  // Returns an error (kEnvironment) if `path` must not be changed.
  Result<void> check(std::string_view verb, const std::filesystem::path& path) const;

  Files& files_;
  std::filesystem::path staging_;
  std::vector<std::filesystem::path> folders_, files_allowed_;
  std::atomic<unsigned> writes_{0};
};

// True if `path` is a normalized relative path that does not leave its folder, judged by its text.
// Paths in kiln's own files must be such paths.
bool is_inner_path(std::string_view path);

}  // namespace kiln::tools
