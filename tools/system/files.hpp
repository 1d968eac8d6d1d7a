// The file system, as the build needs it: whole files, atomic writes, file status.
//
// Files is an interface with one real implementation and one in-memory one (tests/support), so that
// faults can be injected at any call. All functions are safe to call from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"

namespace kiln::tools {

// Identifies the content of a file without reading it: if two statuses are equal, so are the bytes,
// unless somebody sets times back on purpose.
struct FileStatus {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  auto operator<=>(const FileStatus&) const = default;
};

enum class PathKind : std::uint8_t {
  kNone,    // nothing there
  kFile,
  kFolder,
  kOther,   // a pipe, a socket, a device
  kHidden,  // it cannot be looked at: a loop of links, a folder that must not be entered
};

class Files {
 public:
  virtual ~Files() = default;
  // What is there, links followed.
  virtual PathKind kind(const std::filesystem::path& path) const = 0;
  // The file's bytes. Missing, or over 4 GiB: kInvalidInput; unreadable, or no file at all:
  // kEnvironment. Never waits for a pipe, and never reads a device.
  virtual Result<std::string> read(const std::filesystem::path& path) const = 0;
  // SHA-256 of what read() would give, of a large file in far less memory and time.
  virtual Result<Digest> digest(const std::filesystem::path& path) const = 0;
  // Replaces `path` in one step: written beside it, then renamed; makes parent folders. On failure the
  // old file is untouched and nothing is left behind.
  virtual Result<void> write(const std::filesystem::path& path, std::string_view bytes) = 0;
  // As write(), but leaves a file that already has these bytes alone (its times stay).
  Result<void> write_if_changed(const std::filesystem::path& path, std::string_view bytes);
  // Of a file or folder, links followed; nothing when it does not exist or cannot be looked at.
  // By text, because a build asks for thousands, and making a path of one takes as long as the look.
  virtual std::optional<FileStatus> status(const std::string& path) const = 0;
  // Sets the times to now, so that a cache can tell what was used last.
  virtual Result<void> touch(const std::filesystem::path& path) = 0;
  // Moves a file over a file, or a folder to a name that is free (or an empty folder).
  virtual Result<void> rename(const std::filesystem::path& from,
                              const std::filesystem::path& to) = 0;
  virtual Result<void> make_directories(const std::filesystem::path& path) = 0;
  // A new folder below `parent` under a name that nobody else uses or used, in this process or another,
  // on this machine or in a container; makes parent folders.
  virtual Result<std::filesystem::path> make_unique_folder(const std::filesystem::path& parent) = 0;
  // A file, or a folder with all it holds. Success when there is none.
  virtual Result<void> remove_all(const std::filesystem::path& path) = 0;
  // Names in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::filesystem::path& folder) const = 0;
  // Whether a link on the way to `path`, which is spelt below `root`, leads out of `root`. The last name
  // may be a link: who replaces or removes it does so with the link.
  virtual bool leads_outside(const std::filesystem::path& root,
                             const std::filesystem::path& path) const = 0;
  // Whether `path` may name another file than at that time, in nanoseconds of FileStatus: a link or folder on
  // the way was replaced or renamed.
  virtual bool path_redirected_since(const std::filesystem::path& path, std::int64_t time_ns) const = 0;
  // As kiln::why_untrusted (base/cache_folder.hpp) has it.
  virtual std::string why_untrusted(const std::filesystem::path& folder) const = 0;
};

std::unique_ptr<Files> real_files();

// The files of a folder below `root`, and of the folders in it, at most `depth` deep, relative to `root`.
std::vector<std::string> files_below(const Files& files, const std::filesystem::path& root,
                                     const std::string& folder, int depth);

}  // namespace kiln::tools
