#include "tools/commands/shared_store.hpp"

#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

bool may_use(StoreUse use, const CachePolicy& policy, const CacheFolder& folder, std::ostream& err) {
  if (use == StoreUse::kNone || !policy.is_on) return false;
  if (!folder.is_usable()) err << "kiln: warning: the cache is not used: " << folder.refused << "\n";
  return folder.is_usable();
}

// Returns null if no server is named or there is no HTTP client.
std::unique_ptr<RemoteCache> open_remote_cache(const RemotePolicy& policy, World& world) {
  if (policy.url.empty()) return nullptr;
  Result<std::unique_ptr<HttpClient>> client = real_http_client(policy.timeouts, world.interrupt);
  if (client) return std::make_unique<RemoteCache>(std::move(*client), policy);
  world.err << "kiln: warning: KILN_CACHE_URL is not used: " << client.error().message << "\n";
  return nullptr;
}

}  // namespace

Result<StorePolicies> store_policies(const Environment& environment) {
  KILN_TRY_ASSIGN(const CachePolicy folder, cache_policy(environment));
  KILN_TRY_ASSIGN(const RemotePolicy remote, remote_policy(environment));
  return StorePolicies{folder, remote};
}

SharedStore::SharedStore(StoreUse use, const StorePolicies& policies, const CacheFolder& folder,
                         World& world)
    : world_(world),
      limit_(policies.folder.limit),
      is_used_(may_use(use, policies.folder, folder, world.err)),
      files_(world.files, {folder.path}),
      store_(files_, folder.path) {
  if (!is_used_) return;
  if (use == StoreUse::kFolderAndServer) remote_ = open_remote_cache(policies.remote, world);
  store_.set_remote(remote_.get());
  use_ = store_.use();
}

void SharedStore::trim() {
  if (is_used_) (void)store_.trim(limit_);
}

SharedStore::~SharedStore() {
  if (!is_used_) return;
  if (store_.damaged() != 0) {
    world_.err << "kiln: warning: " << counted(store_.damaged(), "damaged file") << " of the cache "
               << (store_.damaged() == 1 ? "is" : "are") << " ignored and will be built again: "
               << store_.root().string() << "\n";
  }
  if (remote_ && !remote_->first_failure().empty()) {
    world_.err << "kiln: warning: the cache " << remote_->shown_url() << " "
               << remote_->first_failure() << "\n";
  }
  store_.save_counts();
  if (use_) store_.sweep(*use_);
}

}  // namespace kiln::tools
