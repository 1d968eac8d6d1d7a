// The store of step outputs that all builds of a user share.
//
//   objects/<2 hex>/<62 hex>/   one output:  entry   sealed text: sha256 of output, sha256 of log
//                                            output  the bytes
//                                            log     what the tool printed
//   lists/<2 hex>/<62 hex>      which dependencies a step was seen with (see Candidate), sealed text
//
// An entry is a folder that is made aside and renamed whole: it has every file or does not exist. An
// entry that does not check out is a miss, and is removed. Nothing here fails a build: store() and
// trim() return errors for the caller to mention. Safe from several threads and several processes.
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

namespace kiln::tools {

struct CachedOutput {
  std::string output;
  std::string log;
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

  // `root` need not exist.
  CacheStore(Files& files, std::filesystem::path root) : files_(files), root_(std::move(root)) {}

  std::optional<CachedOutput> find(const Digest& key);
  Result<void> store(const Digest& key, const CachedOutput& value);

  std::vector<Candidate> candidates(const Digest& step_key) const;  // newest first
  Result<void> add_candidate(const Digest& step_key, const Candidate& candidate);

  Usage usage() const;
  // Removes what was used longest ago until at most `limit` bytes are left.
  Result<void> trim(std::uint64_t limit);
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

  Files& files_;
  std::filesystem::path root_;
  std::atomic<unsigned> aside_count_{0};
};

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
