// The store that builds share, during one command: the user's folder, and behind it the HTTP cache
// that KILN_CACHE_URL names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/remote_cache.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {

// The environment's settings for both.
struct StorePolicies {
  CachePolicy folder;
  RemotePolicy remote;
};
Result<StorePolicies> store_policies(const Environment& environment);

enum class StoreUse : std::uint8_t { kNone, kFolder, kFolderAndServer };

class SharedStore {
 public:
  // Warns if a wanted store cannot be used. Builds then continue without it.
  SharedStore(StoreUse use, const StorePolicies& policies, const CacheFolder& folder, World& world);
  // Reports problems with the store and saves its counts.
  ~SharedStore();
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;

  // Null if no store is used.
  CacheStore* get() { return is_used_ ? &store_ : nullptr; }
  // Reduces the store to the size that the policy allows.
  void trim();

 private:
  World& world_;
  const std::uint64_t limit_;
  const bool is_used_;
  SandboxedFiles files_;
  CacheStore store_;
  std::unique_ptr<RemoteCache> remote_;
  std::optional<RangeLock> use_;
};

}  // namespace kiln::tools
