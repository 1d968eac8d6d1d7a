// The file system as a build needs it: whole files, atomic writes, file status.
//
// Files is an interface with a real implementation and one in memory (tests/support), so that tests
// can inject faults at any call. All functions are thread-safe.
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

// Identifies the content of a file without reading it. Files with equal status have equal bytes,
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
  kHidden,  // cannot be examined: a loop of links, or a folder that may not be entered
};

class Files {
 public:
  virtual ~Files() = default;
  // Returns what is there. Follows links.
  virtual PathKind kind(const std::filesystem::path& path) const = 0;
  // Returns the file's bytes. Errors: kInvalidInput if it is missing or over 4 GiB, kEnvironment if
  // it is unreadable or not a file. Never waits for a pipe and never reads a device.
  virtual Result<std::string> read(const std::filesystem::path& path) const = 0;
  // SHA-256 of what read() would return. For large files, needs far less memory and time.
  virtual Result<Digest> digest(const std::filesystem::path& path) const = 0;
  // Replaces `path` atomically: writes a file beside it and renames it. Creates parent folders. On
  // failure, the old file is unchanged and nothing is left behind.
  virtual Result<void> write(const std::filesystem::path& path, std::string_view bytes) = 0;
  // Like write(), but does not touch a file that already has these bytes.
  Result<void> write_if_changed(const std::filesystem::path& path, std::string_view bytes);
  // Status of a file or folder, following links, or nothing if it does not exist or cannot be
  // examined. Takes text, because a build asks for thousands, and constructing a path takes as long
  // as the query.
  virtual std::optional<FileStatus> status(const std::string& path) const = 0;
  // Sets the times to now, which records a use for the cache.
  virtual Result<void> touch(const std::filesystem::path& path) = 0;
  // Moves a file, replacing any file, or a folder to an unused name (or an empty folder).
  virtual Result<void> rename(const std::filesystem::path& from,
                              const std::filesystem::path& to) = 0;
  virtual Result<void> make_directories(const std::filesystem::path& path) = 0;
  // Makes a folder below `parent` under a name that no process uses or has used, on this machine or
  // in a container. Creates parent folders.
  virtual Result<std::filesystem::path> make_unique_folder(const std::filesystem::path& parent) = 0;
  // Removes a file, or a folder with its contents. Succeeds if there is none.
  virtual Result<void> remove_all(const std::filesystem::path& path) = 0;
  // Returns the names in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::filesystem::path& folder) const = 0;
  // Returns what a link says, or an empty path if `path` is no link.
  virtual std::filesystem::path link_target(const std::filesystem::path& path) const = 0;
  // True if a link on the way to `path`, which is below `root` by its spelling, leads out of
  // `root`. The last name may be a link: replacing or removing it affects only the link.
  virtual bool leads_outside(const std::filesystem::path& root,
                             const std::filesystem::path& path) const = 0;
  // True if `path` may name another file than at that time (nanoseconds of FileStatus), because a
  // link or folder on the way was replaced or renamed.
  virtual bool path_redirected_since(const std::filesystem::path& path, std::int64_t time_ns) const = 0;
  // Like kiln::why_untrusted (base/cache_folder.hpp).
  virtual std::string why_untrusted(const std::filesystem::path& folder) const = 0;
};

std::unique_ptr<Files> real_files();

// Returns the files in `root`/`folder` and its subfolders, at most `depth` deep, relative to
// `root`.
std::vector<std::string> files_below(const Files& files, const std::filesystem::path& root,
                                     const std::string& folder, int depth);

// Removes `root`/`path`, and then the folders on the way to it that have become empty.
Result<void> remove_with_empty_folders(Files& files, const std::filesystem::path& root,
                                       const std::filesystem::path& path);

}  // namespace kiln::tools
