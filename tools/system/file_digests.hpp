// Digests of files, remembered by file status, so that what has not changed is not read again.
//
// A file's digest is a fact about its bytes; its status (inode, size, times) only says whether the
// fact still holds. Compilers are hundreds of megabytes: read once, remembered for good.
//
// Within one run a path is looked at once; forget() or record() it when it is written. All functions
// are safe from several threads.
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

  // SHA-256 of the file's bytes; nothing when it cannot be read.
  std::optional<Digest> digest(const std::filesystem::path& path) { return digest_at(path.native()); }
  // The same, for who has the path as text: making a path of it takes longer than to find its digest.
  std::optional<Digest> digest_at(const std::string& path);

  // The same of what lies there now, where digest() goes on to answer as it did first.
  std::optional<Digest> digest_now(const std::filesystem::path& path) const;

  // The file was just written by us with these bytes.
  void record(const std::filesystem::path& path, const Digest& digest);
  // The file may have changed: look again next time.
  void forget(const std::filesystem::path& path);
  // Counts the calls of record() and forget(): while it stays, digest() answers as it did.
  std::uint64_t changes() const { return changes_; }
  // Looks at what digest() will be asked for, and reads what is not remembered, `threads` files at a
  // time.
  void prefetch(const std::vector<std::string>& paths, unsigned threads);

  // Loads what save() wrote; a damaged file teaches nothing.
  void load(std::string_view file);
  // What was learnt or confirmed about the files that `wanted` accepts, sorted by path. A file that
  // changed so short a time ago that the next change might not show in its status is left out.
  std::string save(const std::function<bool(const std::string&)>& wanted) const;
  // Whether something that `wanted` accepts is not as it was loaded.
  bool learnt(const std::function<bool(const std::string&)>& wanted) const;

 private:
  struct Entry {
    FileStatus status;
    Digest digest;
    bool settled = true;   // its status can be trusted in a later run
    bool seen = false;     // looked at in this run
    bool is_new = false;   // not as loaded
    bool is_missing = false;  // in this run: nothing is there, or no file
  };
  // Whether the digest of this path is known by now, or that there is none.
  bool look(const std::string& path);

  const Files& files_;
  std::atomic<std::uint64_t> changes_ = 0;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace kiln::tools
