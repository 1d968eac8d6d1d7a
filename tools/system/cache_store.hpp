// The store of step outputs that all builds of a user share.
//
//   objects/<2 hex>/<62 hex>/   one output:  entry   sealed text: key, sha256 of output and of log
//                                            output  the bytes
//                                            log     what the tool printed
//   lists/<2 hex>/<62 hex>      which dependencies a step was seen with (see Candidate), sealed text
//   counts                      hits and misses so far
//   aside/<unique>/             what is being made or removed
//   lock                        who uses the store, and which steps are being run (RangeLock)
//   CACHEDIR.TAG                says that the folder is kiln's, and that backups may leave it out
//
// An entry is a folder that is made aside and renamed whole: it has every file or does not exist. An
// entry that does not check out (its key is part of it) is a miss, is counted, and is removed. Nothing
// here fails a build: store() and trim() return errors for the caller to mention. Safe from several
// threads and several processes, in containers that share the folder too.
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
  // Of what find() gives; whoever stores leaves them out.
  Digest output_digest = {}, log_digest = {};
  FoundIn found_in = FoundIn::kFolder;
};

// What a compiler reads is only known once it ran. So a step's key leads to the lists of files it was
// seen to read, each with their digests; where a list still holds, its digest is the output's key.
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

  // The level behind this one: what it has is copied here, and what is kept here is given to it too.
  // It outlives the store; null: none.
  void set_remote(RemoteCache* remote) { remote_ = remote; }

  // kHere asks this level alone.
  enum class Levels : bool { kHere, kAll };
  std::optional<CachedOutput> find(const Digest& key, Levels levels = Levels::kAll);
  Result<void> store(const Digest& key, const CachedOutput& value);

  std::vector<Candidate> candidates(const Digest& step_key);  // newest first
  // Those of the level behind; asked when none of one's own holds.
  std::vector<Candidate> remote_candidates(const Digest& step_key);
  Result<void> add_candidate(const Digest& step_key, const Candidate& candidate);
  // The same, in this level alone.
  Result<void> remember(const Digest& step_key, const Candidate& candidate);

  // Waits while another process, or another thread, holds the claim on this step; nothing where there
  // can be no lock. Who holds one asks find() again: the step may have been run meanwhile.
  std::optional<RangeLock> claim(const Digest& step_key, const Interrupt* interrupt);

  // How many entries and lists did not check out so far.
  unsigned damaged() const { return damaged_; }

  Usage usage() const;
  // Removes what was used longest ago until at most `limit` bytes are left, and all that was last used
  // before `oldest_ns` (since 1970).
  Result<void> trim(std::uint64_t limit, std::int64_t oldest_ns = 0);
  // Whoever looks for an output, however many keys it may lie under, says once what came of it: where it was
  // found, and how many bytes it has with its log.
  void count(FoundIn where, std::uint64_t bytes = 0);
  // Those of all builds since the store was cleared.
  Counts counts() const;
  // Adds those of this object. Losing them does no harm.
  void save_counts();
  // While a build uses the store it holds this; nothing where there can be no lock.
  std::optional<RangeLock> use();
  // Removes what killed builds left behind, unless another build uses the store now.
  void sweep(RangeLock& use);
  // The error (kInvalidInput) is that the folder is not one that kiln made: for who removes by the user's word.
  Result<void> check_mark() const;
  // The same errors.
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
  Result<void> mark();
  Result<void> discard(const std::filesystem::path& path);
  void note_damage(const std::filesystem::path& path);

  std::optional<CachedOutput> find_here(const Digest& key);
  Result<void> store_here(const Digest& key, const CachedOutput& value);

  Files& files_;
  std::filesystem::path root_;
  RemoteCache* remote_ = nullptr;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bytes_{0};
  std::atomic<unsigned> damaged_{0};
  std::atomic<bool> is_marked_{false};
};

// Where the store of this user is, and whether it may be used.
struct CacheFolder {
  std::filesystem::path path;  // empty: no variable says where
  std::string refused;         // why it is not used; empty: no reason
  bool is_usable() const { return refused.empty(); }
};
CacheFolder cache_folder(const Files& files, const Environment& environment);

// What the user says of the store: KILN_CACHE=off (or on), KILN_CACHE_SIZE=2G.
struct CachePolicy {
  bool is_on = true;
  std::uint64_t limit = std::uint64_t{2} << 30;  // bytes
};
// Errors: kInvalidInput for a value that is neither.
Result<CachePolicy> cache_policy(const Environment& environment);

// "2G", "500M", "64K" or bytes; nothing when it is no size.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace kiln::tools
