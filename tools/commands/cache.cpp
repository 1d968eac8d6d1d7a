#include "tools/commands/cache.hpp"

#include <charconv>
#include <chrono>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/table.hpp"
#include "tools/json/json.hpp"
#include "tools/system/cache_store.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

std::string mebibytes(std::uint64_t bytes) {
  const std::uint64_t tenths = (bytes * 10 + (1U << 19)) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// Parses "30d", "12h" or "90m" into seconds.
std::optional<std::int64_t> parse_age(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::int64_t kMax = 100'000;
  if (error != std::errc{} || value < 0 || value > kMax) return std::nullopt;
  if (unit == "d") return value * 24 * 60 * 60;
  if (unit == "h") return value * 60 * 60;
  if (unit == "m") return value * 60;
  return std::nullopt;
}

struct TrimLimits {
  std::uint64_t bytes;
  std::int64_t oldest_ns;
};
Result<TrimLimits> trim_limits(const CacheOptions& options, const CachePolicy& policy) {
  std::uint64_t limit = policy.limit;
  if (!options.size.empty()) {
    const std::optional<std::uint64_t> size = parse_size(options.size);
    if (!size) {
      return Error{ErrorCode::kInvalidInput, "--size cannot be " + quote(options.size)}.hint(
          "it is bytes, or a number with K, M, G or T: '--size 500M'");
    }
    limit = *size;
  }
  std::int64_t oldest = 0;
  if (!options.age.empty()) {
    const std::optional<std::int64_t> age = parse_age(options.age);
    if (!age) {
      return Error{ErrorCode::kInvalidInput, "--age cannot be " + quote(options.age)}.hint(
          "it is a number of days, hours or minutes: '--age 30d', '--age 12h'");
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    oldest =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - *age * 1'000'000'000;
  }
  return TrimLimits{limit, oldest};
}

Result<void> remove_entries(const CacheOptions& options, const CachePolicy& policy,
                            const Files& files, CacheStore& store) {
  KILN_TRY_ASSIGN(const TrimLimits limits, trim_limits(options, policy));
  if (files.kind(store.root()) == PathKind::kNone) return {};
  KILN_TRY(store.check_mark());
  std::optional<RangeLock> use = store.use();
  KILN_TRY(options.action == CacheAction::kClear ? store.clear()
                                                 : store.trim(limits.bytes, limits.oldest_ns));
  if (use) store.sweep(*use);
  return {};
}

void print_usage(const CacheStore& store, const CachePolicy& policy, std::ostream& out) {
  const CacheStore::Usage usage = store.usage();
  out << store.root().string() << ": " << usage.entries << " outputs, " << mebibytes(usage.bytes)
      << " of " << mebibytes(policy.limit) << (policy.is_on ? "" : " (off: KILN_CACHE)") << "\n";
}

void print_counts(const CacheStore::Counts& counts, const RemotePolicy& remote, std::ostream& out) {
  Table table({"level", "hits", "misses", "read", "written", "failures", ""});
  table.add({"folder", std::to_string(counts.hits), std::to_string(counts.misses),
             mebibytes(counts.bytes), "-", "-", ""});
  table.add({"HTTP", std::to_string(counts.remote_hits), std::to_string(counts.remote_misses),
             mebibytes(counts.remote_read), mebibytes(counts.remote_written),
             std::to_string(counts.remote_failures), ""});
  table.print(out);
  out << "HTTP: "
      << (remote.url.empty()
              ? "no server (KILN_CACHE_URL)"
              : without_credentials(remote.url) + (remote.may_write ? "" : " (read only)"))
      << "\n";
}

// Sizes are in bytes.
Json cache_json(const CacheStore& store, const CachePolicy& policy, const RemotePolicy& remote) {
  const CacheStore::Usage usage = store.usage();
  const CacheStore::Counts counts = store.counts();
  Json::Object http{{"url", remote.url.empty() ? Json() : Json(without_credentials(remote.url))},
                    {"writes", !remote.url.empty() && remote.may_write},
                    {"hits", counts.remote_hits},
                    {"misses", counts.remote_misses},
                    {"read", counts.remote_read},
                    {"written", counts.remote_written},
                    {"failures", counts.remote_failures}};
  return Json::Object{{"folder", store.root().string()}, {"is_on", policy.is_on},
                      {"outputs", usage.entries},        {"size", usage.bytes},
                      {"limit", policy.limit},           {"hits", counts.hits},
                      {"misses", counts.misses},         {"read", counts.bytes},
                      {"http", std::move(http)}};
}

}  // namespace

Result<int> run_cache(const CacheOptions& options, World& world) {
  KILN_TRY_ASSIGN(const CachePolicy policy, cache_policy(world.environment));
  const CacheFolder folder = cache_folder(world.files, world.environment);
  if (!folder.is_usable()) {
    return Error{.code = ErrorCode::kEnvironment,
                 .message = "the cache is not used: " + folder.refused}
        .hint("name a folder of your own: KILN_CACHE_DIR=DIR");
  }
  SandboxedFiles files(world.files, {folder.path});
  CacheStore store(files, folder.path);
  if (options.action != CacheAction::kShow) KILN_TRY(remove_entries(options, policy, files, store));
  if (options.action != CacheAction::kShow && !options.json) {
    print_usage(store, policy, world.out);
    return 0;
  }
  KILN_TRY_ASSIGN(const RemotePolicy remote, remote_policy(world.environment));
  if (options.json) {
    world.out << write_json(cache_json(store, policy, remote));
    return 0;
  }
  print_usage(store, policy, world.out);
  print_counts(store.counts(), remote, world.out);
  return 0;
}

}  // namespace kiln::tools
