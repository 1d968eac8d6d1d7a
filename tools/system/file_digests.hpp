// Digests of files, remembered by file status, so that unchanged files are not read again.
//
// The status (inode, size, times) tells whether a remembered digest still holds. Compilers are
// hundreds of megabytes, but they are read only once.
//
// Within a run, the status of each path is queried once. After writing a file, call forget() or
// record(). Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/system/files.hpp"

namespace kiln::tools {

class FileDigests {
 public:
  explicit FileDigests(const Files& files) : files_(files) {}
  const Files& files() const { return files_; }

  // Returns the SHA-256 of the file's bytes, or nothing if it cannot be read.
  std::optional<Digest> digest(const std::filesystem::path& path) { return digest_at(path.native()); }
  // The same for a path as text: constructing a path takes longer than finding its digest.
  std::optional<Digest> digest_at(const std::string& path);

  // Returns the digest of the present content. digest() keeps returning its first answer.
  std::optional<Digest> digest_now(const std::filesystem::path& path) const;

  // Notes that kiln has just written the file with these bytes.
  void record(const std::filesystem::path& path, const Digest& digest);
  // Notes that the file may have changed, so that it is examined again.
  void forget(const std::filesystem::path& path);
  // Returns the number of calls of record() and forget(). While it stays the same, so do the
  // results of digest().
  std::uint64_t changes() const { return changes_; }
  // Prepares for digest(): queries the status of the files and reads the ones that are not
  // remembered, `threads` files at a time.
  void prefetch(const std::vector<std::string>& paths, unsigned threads);

  // Loads what save() wrote. A damaged file is ignored.
  void load(std::string_view file);
  // Returns the digests of the files for which `wanted` returns true, sorted by path. Leaves out
  // files that changed so recently that another change might not show in their status.
  std::string save(const std::function<bool(const std::string&)>& wanted) const;
  // True if an entry for which `wanted` returns true differs from what was loaded.
  bool has_new(const std::function<bool(const std::string&)>& wanted) const;

 private:
  struct Entry {
    FileStatus status;
    Digest digest;
    bool settled = true;   // the status can be trusted in a later run
    bool seen = false;     // used in this run
    bool is_new = false;   // not as loaded
    bool is_missing = false;  // in this run: nothing is there, or not a file
  };
  // True if the path's digest, or its absence, is already known in this run.
  bool check(const std::string& path);

  const Files& files_;
  std::atomic<std::uint64_t> changes_ = 0;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace kiln::tools
