// The store of step outputs that all builds of a user share.
//
//   objects/<2 hex>/<62 hex>/   one output:  entry   sealed text: key, sha256 of output and of log
//                                            output  the bytes
//                                            log     what the tool printed
//   lists/<2 hex>/<62 hex>      the dependencies that a step was seen with (Candidate), sealed text
//   counts                      hits and misses so far
//   aside/<unique>/             entries being made or removed
//   lock                        locks of users of the store and of running steps (RangeLock)
//   CACHEDIR.TAG                marks the folder as kiln's, and as one that backups may skip
//
// An entry is a folder that is made aside and renamed as a whole: it is complete or does not exist.
// A damaged entry (its key is part of it) counts as missing, is counted, and is removed. Nothing
// here fails a build: store() and trim() return errors for the caller to mention. Safe to use from
// several threads and processes, also in containers that share the folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/files.hpp"
#include "tools/system/range_lock.hpp"
#include "tools/system/remote_cache.hpp"

namespace kiln::tools {

enum class FoundIn : std::uint8_t { kNowhere, kFolder, kServer };

struct CachedOutput {
  std::string output;
  std::string log;
  // Set by find(), ignored by store().
  Digest output_digest = {}, log_digest = {};
  FoundIn found_in = FoundIn::kFolder;
};

// The files that a compiler reads are known only after it has run. So a step's key leads to lists
// of files that the step was seen to read, with their digests. A list whose digests all match gives
// the output's key.
struct Candidate {
  std::vector<std::pair<std::string, Digest>> dependencies;  // sorted by path
};

class CacheStore {
 public:
  struct Usage {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };

  struct Counts {
    std::uint64_t hits = 0, misses = 0, bytes = 0;
    std::uint64_t remote_hits = 0, remote_misses = 0, remote_read = 0, remote_written = 0,
                  remote_failures = 0;
  };

  // `root` need not exist.
  CacheStore(Files& files, std::filesystem::path root) : files_(files), root_(std::move(root)) {}

  // Sets the next level: outputs found there are copied here, and outputs stored here are passed
  // on. It must outlive the store. Null: none.
  void set_remote(RemoteCache* remote) { remote_ = remote; }

  // kLocal searches only this level.
  enum class Levels : bool { kLocal, kAll };
  std::optional<CachedOutput> find(const Digest& key, Levels levels = Levels::kAll);
  Result<void> store(const Digest& key, const CachedOutput& value);

  std::vector<Candidate> candidates(const Digest& step_key);  // newest first
  // Candidates of the next level, for when none of this level's match.
  std::vector<Candidate> remote_candidates(const Digest& step_key);
  Result<void> add_candidate(const Digest& step_key, const Candidate& candidate);
  // The same, only on this level.
  Result<void> add_local_candidate(const Digest& step_key, const Candidate& candidate);

  // Waits while another thread or process holds the claim on this step. Returns nothing if locks do
  // not work. The holder must call find() again, because the step may have run meanwhile.
  std::optional<RangeLock> claim(const Digest& step_key, const Interrupt* interrupt);

  // Returns the number of damaged entries and lists found so far.
  unsigned damaged() const { return damaged_; }

  Usage usage() const;
  // Removes the least recently used entries until at most `limit` bytes are left, and all entries
  // last used before `oldest_ns` (since 1970).
  Result<void> trim(std::uint64_t limit, std::int64_t oldest_ns = 0);
  // Counts one search for an output, whatever number of keys it tried: where the output was found,
  // and its size in bytes with its log.
  void count(FoundIn where, std::uint64_t bytes = 0);
  // Returns the counts of all builds since the store was cleared.
  Counts counts() const;
  // Adds the counts of this object. Losing them does no harm.
  void save_counts();
  // Builds, and commands that remove entries, hold this lock while they use the store. Empty if
  // locks do not work.
  std::optional<RangeLock> use();
  // Removes what killed builds left behind, unless another build is using the store.
  void sweep(RangeLock& use);
  // Checks that kiln made the folder, before something is removed at the user's request. Errors:
  // kInvalidInput.
  Result<void> check_mark() const;
  // Removes all entries. Builds may go on meanwhile. Errors: those of check_mark().
  Result<void> clear();

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path entry_folder(const Digest& key) const;
  std::filesystem::path list_file(const Digest& step_key) const;

  struct Stored {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;
  };
  std::vector<Stored> all_entries() const;
  std::vector<std::filesystem::path> leftovers() const;
  Result<void> publish(const std::filesystem::path& made, const std::filesystem::path& place);
  Result<void> mark();
  Result<void> discard(const std::filesystem::path& path);
  void note_damage(const std::filesystem::path& path);

  std::optional<CachedOutput> find_local(const Digest& key);
  Result<void> store_local(const Digest& key, const CachedOutput& value);

  Files& files_;
  std::filesystem::path root_;
  RemoteCache* remote_ = nullptr;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bytes_{0};
  std::atomic<unsigned> damaged_{0};
  std::atomic<bool> is_marked_{false};
};

// The folder of this user's store, and whether it may be used.
struct CacheFolder {
  std::filesystem::path path;  // empty if no variable names one
  std::string refused;         // why it is not used; empty if it is
  bool is_usable() const { return refused.empty(); }
};
CacheFolder cache_folder(const Files& files, const Environment& environment);

// The user's settings for the store: KILN_CACHE=off (or on), KILN_CACHE_SIZE=2G.
struct CachePolicy {
  bool is_on = true;
  std::uint64_t limit = std::uint64_t{2} << 30;  // bytes
};
// Errors: kInvalidInput for an invalid value.
Result<CachePolicy> cache_policy(const Environment& environment);

// Parses "2G", "500M", "64K" or a number of bytes. Returns nothing for anything else.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace kiln::tools
