// The files of one build: what it may change, and where it writes what is not whole yet.
//
// Reads as the files it is made of. Changes only what lies below one of its folders, links followed:
// whatever path a state file, a catalog or a link in the out folder names, nothing else is written or
// removed. Once there is a staging folder, a file is written there and renamed into place, so that a
// build that was killed leaves its halves there and nowhere else.
#pragma once

#include <atomic>
#include <utility>

#include "tools/system/files.hpp"

namespace kiln::tools {

class HeldFiles final : public Files {
 public:
  // All absolute and in their shortest form; an empty one is none. `single` are files that may be
  // written besides.
  HeldFiles(Files& files, std::vector<std::filesystem::path> folders,
            std::vector<std::filesystem::path> single = {})
      : files_(files), folders_(std::move(folders)), single_(std::move(single)) {}

  // Below one of the folders. Before any thread writes.
  void stage_in(std::filesystem::path staging) { staging_ = std::move(staging); }

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
  bool leads_outside(const std::filesystem::path& root,
                     const std::filesystem::path& path) const override {
    return files_.leads_outside(root, path);
  }
  bool path_redirected_since(const std::filesystem::path& path, std::int64_t time_ns) const override {
    return files_.path_redirected_since(path, time_ns);
  }
  std::string why_untrusted(const std::filesystem::path& folder) const override {
    return files_.why_untrusted(folder);
  }

 private:
  // The error (kEnvironment) that `path` must not be changed.
  Result<void> check(std::string_view verb, const std::filesystem::path& path) const;

  Files& files_;
  std::filesystem::path staging_;
  std::vector<std::filesystem::path> folders_, single_;
  std::atomic<unsigned> writes_{0};
};

// Whether `path` is a name below a folder, as text: relative, in its shortest form, and without a way
// out of it. What a file of kiln's own says of its neighbours must be one.
bool is_inner_path(std::string_view path);

}  // namespace kiln::tools
