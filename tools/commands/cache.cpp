#include "tools/commands/cache.hpp"

#include "tools/system/cache_store.hpp"
#include "tools/system/held_files.hpp"

namespace kiln::tools {
namespace {

std::string mebibytes(std::uint64_t bytes) {
  const std::uint64_t tenths = (bytes * 10 + (1U << 19)) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

}  // namespace

Result<int> run_cache(const CacheOptions& options, World& world) {
  KILN_TRY_ASSIGN(const CachePolicy policy, cache_policy(world.environment));
  const CacheFolder folder = cache_folder(world.files, world.environment);
  if (!folder.is_usable()) {
    return Error{.code = ErrorCode::kEnvironment, .message = "there is no cache: " + folder.refused}
        .hint("name a folder of your own: KILN_CACHE_DIR=DIR");
  }
  HeldFiles files(world.files, {folder.path});
  CacheStore store(files, folder.path);
  if (options.action == CacheAction::kClear) KILN_TRY(store.clear());
  const CacheStore::Usage usage = store.usage();
  world.out << store.root().string() << ": " << usage.entries << " outputs, "
            << mebibytes(usage.bytes) << " of " << mebibytes(policy.limit)
            << (policy.is_on ? "" : " (off: KILN_CACHE)") << "\n";
  return 0;
}

}  // namespace kiln::tools
